/// One step into a document: the name of a member or the index of an element.
struct CodingStep {
    var name: String
    var index: Int?
    /// Whether the name stands in the program; others come from the document.
    var isDeclared = false
}

extension CodingStep {
    init(_ key: any CodingKey) {
        let mirror = Mirror(reflecting: key)
        self.init(
            name: key.stringValue, index: key.intValue,
            isDeclared: mirror.displayStyle == .enum && mirror.children.isEmpty)
    }
}

extension [CodingStep] {
    /// The path as Swift and JavaScript write it, `users[3].email`; of a long one the end.
    ///
    /// A name that comes from the document is part of the value above it: under a hidden name it is masked.
    func text(_ redaction: Redaction) -> String {
        guard !isEmpty else { return "the top level" }
        var (text, isHidden) = ("", false)
        for step in self {
            if let index = step.index {
                text += "[\(index)]"
            } else {
                let name = isHidden && !step.isDeclared ? Redaction.mask : step.name.shortened(to: 60)
                text += text.isEmpty ? name : "." + name
            }
            isHidden = isHidden || redaction.hides(step)
        }
        guard let start = text.unicodeScalars.index(text.endIndex, offsetBy: -120, limitedBy: text.startIndex) else {
            return text
        }
        return "…" + text[start...].drop { $0 != "." && $0 != "[" }
    }
}

extension [any CodingKey] {
    /// The path as Swift and JavaScript write it: `users[3].email`.
    func text(_ redaction: Redaction) -> String { map(CodingStep.init).text(redaction) }
}

extension Redaction {
    /// The most bytes of a name that is looked at.
    static let longestStep = 256

    /// Whether what a step leads to is hidden: also if its name is too long to be looked at.
    func hides(_ step: CodingStep) -> Bool {
        isActive && step.name.utf8.count > Self.longestStep || hides(step.name)
    }
}
