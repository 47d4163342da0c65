/// A value that `dump` and debuggers show without secrets.
protocol RedactedReflectable: CustomReflectable {
    var shownChildren: [(String, Any?)] { get }
}

extension RedactedReflectable {
    // Public, since it is the witness of public types. The protocol being internal, it is no public symbol of theirs.
    public var customMirror: Mirror {
        Mirror(self, children: shownChildren.map { (label: $0, value: $1 as Any) }, displayStyle: .struct)
    }
}

extension RedactedReflectable where Self: CustomStringConvertible {
    var shownChildren: [(String, Any?)] { [("description", description)] }
}
