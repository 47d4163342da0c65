/// The name of a member or the index of an element, as the document has it.
struct JSONKey: CodingKey, ExpressibleByStringLiteral {
    let stringValue: String
    private(set) var intValue: Int?

    init(stringValue name: String) { stringValue = name }
    init(stringLiteral name: String) { stringValue = name }
    init(intValue index: Int) { (stringValue, intValue) = ("", index) }
}

extension [any CodingKey] {
    /// The path as Swift writes it, such as `users[3].email`; a long path is cut at its start.
    ///
    /// Names that come from the document may be secret: they are masked under a hidden name.
    func text(_ redaction: Redaction) -> String {
        guard !isEmpty else { return "the top level" }
        var (text, isHidden) = ("", false)
        for key in self {
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                let mirror = Mirror(reflecting: key)
                let isDeclared = mirror.displayStyle == .enum && mirror.children.isEmpty
                let name = isHidden && !isDeclared ? Redaction.mask : key.stringValue.shortened(to: 60)
                text += text.isEmpty ? name : "." + name
            }
            isHidden = isHidden || redaction.hides(key)
        }
        guard let start = text.unicodeScalars.index(text.endIndex, offsetBy: -120, limitedBy: text.startIndex) else {
            return text
        }
        return "…" + text[start...].drop { $0 != "." && $0 != "[" }
    }
}

extension Redaction {
    /// Whether the values under a name are hidden; very long names are always hidden, since comparing them takes long.
    func hides(_ key: any CodingKey) -> Bool {
        isActive && key.stringValue.utf8.count > 256 || hides(key.stringValue)
    }
}
