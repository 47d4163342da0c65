/// A value that `dump` and debuggers show without secrets.
protocol RedactedReflectable: CustomReflectable {
    var shownChildren: [(String, Any?)] { get }
}

extension RedactedReflectable {
    // Public types need it to be public. The protocol is internal, so the types get no public symbol.
    /// The value without secrets.
    public var customMirror: Mirror { mirror(of: self) }
}

/// Not a part of `customMirror`, which is compiled for each type.
@inline(never)
private func mirror(of value: any RedactedReflectable) -> Mirror {
    Mirror(value, children: value.shownChildren.map { (label: $0, value: $1 as Any) }, displayStyle: .struct)
}

extension RedactedReflectable where Self: CustomStringConvertible {
    var shownChildren: [(String, Any?)] { [("description", description)] }
}

/// A value that `print` shows as one text without secrets.
protocol RedactedDescribable: CustomStringConvertible, RedactedReflectable {
    var shownText: String { get }
}

extension RedactedDescribable {
    // As above, the types get no public symbol.
    /// The value without secrets.
    public var description: String { shownText }
}
