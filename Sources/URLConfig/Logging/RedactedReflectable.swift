/// A value that `dump` and debuggers show without secrets.
protocol RedactedReflectable: CustomReflectable {
    var shownChildren: [(String, Any?)] { get }
}

extension RedactedReflectable {
    // It must be public for public types. As the protocol is internal, it is not a public symbol of theirs.
    /// The value without secrets.
    public var customMirror: Mirror {
        Mirror(self, children: shownChildren.map { (label: $0, value: $1 as Any) }, displayStyle: .struct)
    }
}

extension RedactedReflectable where Self: CustomStringConvertible {
    var shownChildren: [(String, Any?)] { [("description", description)] }
}
