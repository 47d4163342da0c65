extension Redaction {
    /// A server's words, which may name a secret in any way: as `token=…` in the middle of a sentence, as a header field, in
    /// JSON within JSON, as the user of a URL.
    ///
    /// Where such a value ends is not known, so that more is masked than need be. Give it short texts only.
    func words(_ text: String) -> String {
        guard isActive else { return text }
        let text = text.replacing(/(:\\?\/\\?\/)[^\s\/?#]*@/) { "\($0.1)\(Self.mask)@" }
            .replacing(/(?i)\b(bearer|basic)\s+([^\s,;"'\\]+)/) { match in
                match.2.isOpaque ? "\(match.1) \(Self.mask)" : String(match.0)
            }
        var output = ""
        var rest = text.unicodeScalars[...]
        var isStart = true
        while let mark = rest.firstIndex(where: { $0 == "=" || $0 == ":" }) {
            let name = Name(rest[..<mark], isStart: isStart)
            let isAssigned = rest[mark] == "=" || name.isQuoted
            output += String(rest[...mark])
            rest = rest[text.unicodeScalars.index(after: mark)...]
            isStart = false
            guard hides(name.word) || hides(name.words) else { continue }
            let value = rest.prefix { isAssigned ? $0 != "&" : $0 != "\n" }
            let isMasked = value.drop { $0 == " " }.starts(with: "\"\(Self.mask)\"".unicodeScalars)
            guard !isMasked, isAssigned || String(value).isSecret(isAlone: name.isAlone) else { continue }
            output += (isAssigned ? "" : " ") + Self.mask
            rest = rest[value.endIndex...]
        }
        return output + String(rest)
    }

    /// The beginning of a text that holds a server's words, laid out as it is.
    ///
    /// By scalars: a character may be as long as the whole text.
    func quote(_ text: String) -> String { words(items(Substring(text.unicodeScalars.prefix(1000)), isURL: true)) }

    /// What is before an equals sign or a colon.
    private struct Name {
        let word: String
        /// The word and those before it, as in `API key`.
        let words: String
        /// Whether it is the first word of its line, as the name of a header field.
        let isAlone: Bool
        let isQuoted: Bool

        private static func isPartOfWord(_ scalar: Unicode.Scalar) -> Bool {
            !" \t\n,;&?#(){}[<>\"'\\/|".unicodeScalars.contains(scalar)
        }

        init(_ text: Substring.UnicodeScalarView, isStart: Bool) {
            let marks: Set<Unicode.Scalar> = [" ", "\"", "'", "\\"]
            let name = text.dropLast(while: marks.contains)
            let before = name.dropLast(while: Self.isPartOfWord)
            let line = before.dropLast(while: marks.contains)
            word = String(name[before.endIndex...].suffix(64))
            words = String(name.suffix(64))
            isAlone = line.last == "\n" || line.isEmpty && isStart
            isQuoted = text[name.endIndex...].contains { $0 == "\"" || $0 == "'" }
        }
    }
}

extension BidirectionalCollection {
    fileprivate func dropLast(while condition: (Element) -> Bool) -> SubSequence {
        lastIndex { !condition($0) }.map { self[...$0] } ?? self[..<startIndex]
    }
}

extension StringProtocol {
    /// Whether a word is more likely a secret than a part of a sentence.
    fileprivate var isOpaque: Bool { unicodeScalars.count >= 16 || contains { $0.isNumber || $0 == "=" } }

    /// Whether what follows a colon is a secret: in `Invalid token: expired` it is not.
    fileprivate func isSecret(isAlone: Bool) -> Bool {
        let words = split(whereSeparator: \.isWhitespace)
        return words.prefix(2).contains(where: \.isOpaque) || isAlone && 1...2 ~= words.count
    }
}
