/// JSON, alone or within other text.
extension SecretFinder {
    /// An open object or array.
    private struct Frame {
        let start: Int
        let isObject: Bool
        /// The name of the object, or of the array that it is in.
        let name: ArraySlice<UInt8>
        /// The least secrecy of the values in it.
        let secrecy: Redaction.Secrecy
        /// In `{"name": "password", "value": …}`, the secrecy of the value, and the value if it comes first.
        var named = Redaction.Secrecy.nothing
        var value: Value?
    }

    /// The kind of a value's first token, and what is hidden of the value.
    private typealias Value = (kind: JSONTokenizer.Token.Kind, content: Range<Int>)

    mutating func findInJSON(from start: Int) {
        var json = JSONTokenizer(bytes).reading(from: start)
        var (frames, gap) = ([Frame](), start)
        // Of the value that is read next.
        var (name, secrecy) = (bytes[0..<0], Redaction.Secrecy.nothing)
        while true {
            // The line break in a secret does not end it.
            json.endsStringsAtLineBreaks = secrecy == .nothing
            guard let token = json.next() else { break }
            let content = json.content(of: token)
            switch token.kind {
            case .open:
                let isObject = bytes[token.start] == UInt8(ascii: "{")
                frames.append(
                    Frame(
                        start: token.start, isObject: isObject, name: name,
                        secrecy: isObject ? secrecy.inObject : secrecy))
                secrecy = isObject ? .nothing : secrecy
            case .close, .comma:
                if token.kind == .close, let closed = frames.popLast(), frames.last?.isObject == true {
                    pair((.open, closed.start..<json.position), closed.name, &frames[frames.count - 1])
                }
                let isElement = frames.last?.isObject == false
                (name, secrecy) =
                    isElement ? (frames[frames.count - 1].name, frames[frames.count - 1].secrecy) : ([], .nothing)
            case .colon: continue
            case .string where json.isName(token):
                findInGap(&gap, token.start, json.position)
                name = text(of: content)
                secrecy = self.secrecy(of: name, in: frames.last)
                if content.count > 12 { findInText(content) }
            case .string, .word:
                if token.kind == .string { findInGap(&gap, token.start, json.position) }
                find((token.kind, content), secrecy)
                if !frames.isEmpty { pair((token.kind, content), name, &frames[frames.count - 1]) }
            }
        }
        findInGap(&gap, bytes.count, bytes.count)
    }

    /// Searches the bytes between two strings.
    private mutating func findInGap(_ gap: inout Int, _ end: Int, _ next: Int) {
        // Nothing that is hidden is shorter.
        if end - gap > 5 { findInText(gap..<end) }
        gap = next
    }

    private func text(of content: Range<Int>) -> ArraySlice<UInt8> {
        guard bytes[content].contains(UInt8(ascii: "\\")) else { return bytes[content] }
        return JSONString(bytes[content.lowerBound - 1..<content.upperBound]).bytes[...]
    }

    private mutating func secrecy(of name: ArraySlice<UInt8>, in frame: Frame?) -> Redaction.Secrecy {
        guard let frame else { return secrecy(of: name) }
        var secrecy = max(secrecy(of: name), frame.secrecy)
        if name.elements(in: ["value", "Value"]) { secrecy = max(secrecy, frame.named) }
        guard secrecy <= .opaqueText, name.count <= 12, !frame.name.isEmpty else { return secrecy }
        // Only the end of a name counts, and a long one would be read for each member.
        let parent = String(decoding: frame.name.suffix(64), as: UTF8.self)
        return max(secrecy, redaction.secrecy(of: String(decoding: name, as: UTF8.self), in: parent))
    }

    /// Hides a value, or the secrets in it.
    private mutating func find(_ value: Value, _ secrecy: Redaction.Secrecy) {
        let content = value.content
        guard value.kind == .string else {
            let word = Array(bytes[content])
            if secrecy > .nothing && isSecret(word: word[...], secrecy) || known.contains(word) {
                hide(content, word, as: "\"\(Redaction.mask)\"")
            }
            return
        }
        let text = text(of: content)
        if secrecy > .nothing, hide(content, Array(text), secrecy) { return }
        guard text.startIndex != content.lowerBound else { return findInText(content) }
        findInside(content, Array(text)) { $0.escapedForJSON }
    }

    /// Whether a number, `true`, `null`, or in invalid JSON any other word is secret.
    private func isSecret(word: ArraySlice<UInt8>, _ secrecy: Redaction.Secrecy) -> Bool {
        if word.elements(in: ["true", "false", "null"]) { return secrecy == .everything }
        let isNumber = word.allSatisfy { $0.isDigit || "+-.eE".utf8.contains($0) }
        return secrecy >= (isNumber ? .identifierAndNumbers : .plural)
    }

    /// Hides the value of `{"name": "password", "value": …}`, in any order.
    private mutating func pair(_ value: Value, _ name: ArraySlice<UInt8>, _ frame: inout Frame) {
        if name.elements(in: ["value", "Value"]) { frame.value = value }
        guard value.kind == .string, name.elements(in: ["name", "key", "Name", "Key"]) else { return }
        frame.named = secrecy(of: text(of: value.content))
        guard frame.named > .nothing, let value = frame.value.take() else { return }
        if value.kind != .open {
            find(value, frame.named)
        } else if frame.named >= .text {
            // To read it again would take quadratic time if it contains others of its kind.
            hide(value.content, as: "\"\(Redaction.mask)\"")
        }
    }
}

/// Multipart forms.
extension SecretFinder {
    mutating func findInParts(_ boundary: String, _ isRecorded: Bool) {
        let mark = "--\(boundary)".utf8
        let first = bytes.firstRange(of: mark, in: bytes.indices)
        if first == nil, !bytes.isEmpty { hideUnread(bytes.indices, nil, isRecorded) }
        // Text before and after the parts is allowed (RFC 2046 §5.1.1).
        findAround(0..<(first?.lowerBound ?? 0))
        var next = first?.upperBound
        while let start = next {
            let delimiter = bytes.firstRange(of: mark, in: start..<bytes.count)
            let end = delimiter?.lowerBound ?? bytes.count
            let lineBreak = bytes[start..<end].suffix(2).elementsEqual("\r\n".utf8) ? 2 : 0
            if let head = bytes.firstRange(of: "\r\n\r\n".utf8, in: start..<end - lineBreak) {
                findInPart(bytes[start..<head.lowerBound], head.upperBound..<end - lineBreak, isRecorded)
            } else if delimiter != nil || bytes.firstRange(of: "\n\n".utf8, in: start..<end) != nil {
                // It cannot be read, so it is not shown. The head of the last part may be cut.
                hide(start..<end - lineBreak)
            } else {
                findAround(start..<end)
            }
            next = delimiter?.upperBound
        }
    }

    private mutating func findAround(_ range: Range<Int>) { findInside(range, Array(bytes[range])) { $0 } }

    private mutating func findInPart(_ head: ArraySlice<UInt8>, _ content: Range<Int>, _ isRecorded: Bool) {
        var (name, isNameless, type) = ("", false, MediaType.text)
        // By bytes: to compare characters takes quadratic time for combining marks.
        for line in head.split(separator: "\r\n".utf8) {
            let field = line.prefix { $0 != UInt8(ascii: ":") }
            guard field.count < line.count, field.count <= 20 else { continue }
            let value = line[field.endIndex...].dropFirst()
            switch String(decoding: field, as: UTF8.self).lowercased() {
            // The parameters have the syntax of a media type's.
            case "content-disposition":
                let parameters = String(decoding: value.drop { $0 != UInt8(ascii: ";") }, as: UTF8.self)
                name = MediaType("a/b;" + parameters)?.parameters["name"] ?? name
                isNameless = name.isEmpty
            case "content-type": type = MediaType(String(decoding: value, as: UTF8.self)) ?? .octetStream
            default: break
            }
        }
        let text = Array(bytes[content])
        if hide(content, text, secrecy(of: Array(name.utf8)[...])) { return }
        let isReadable = type.hasCharset(["utf-8", "us-ascii"])
        let format = isRecorded ? Format(recorded: type, text) : Format(type, text)
        guard !isNameless, isReadable, let format else { return hideUnread(content, type, isRecorded) }
        findInside(content, text, format) { $0 }
    }

    /// Hides what cannot be read; a recording, which is read again, does not have its size.
    private mutating func hideUnread(_ range: Range<Int>, _ type: MediaType?, _ isRecorded: Bool) {
        hide(range, as: isRecorded ? Redaction.mask : Data(bytes[range]).summary(type))
    }
}

extension SecretFinder.Format {
    /// The format of a body; `nil` if it is not parsed here.
    ///
    /// Foundation sends a body without a content type as a form.
    init?(_ type: MediaType?, _ bytes: [UInt8]) {
        let isMarkup = bytes.first { !$0.isJSONSpace } == UInt8(ascii: "<")
        switch type {
        case let type? where type.isMultipart:
            guard let boundary = type.parameters["boundary"], 1...200 ~= boundary.utf8.count else { return nil }
            self = .multipart(boundary: boundary)
        case let type? where type.isForm: self = .form
        case let type? where type.isJSON: self = .json
        case _ where isMarkup: return nil
        case nil: self = bytes.isStructure ? .json : bytes.contains(UInt8(ascii: "{")) ? .text : .form
        case let type? where ["text/plain", "text/event-stream"].contains(type.essence): self = .text
        default: return nil
        }
    }

    /// The format of a body in a recording, which has all bodies: what is not parsed is searched as text.
    ///
    /// In binary data, only values that the call knows are hidden.
    init(recorded type: MediaType?, _ bytes: [UInt8]) {
        switch Self(type, bytes) {
        case .multipart(let boundary, _)?: self = .multipart(boundary: boundary, isRecorded: true)
        case let format?: self = format
        case nil: self = bytes.contains(0) ? .known : .text
        }
    }
}

extension Redaction.Secrecy {
    /// The least secrecy of the members of an object under a name.
    fileprivate var inObject: Self {
        switch self {
        case .everything, .opaqueText: self
        case .textAndNumbers, .identifierAndNumbers: .opaqueText
        case .nothing, .plural, .identifier, .text: .nothing
        }
    }
}

extension [UInt8] {
    /// Whether it begins with an object or an array of JSON.
    var isStructure: Bool { first { !$0.isJSONSpace }.map("{[".utf8.contains) ?? false }
}

extension Data {
    /// A text in place of a body that is not shown.
    func summary(_ type: MediaType?) -> String { "<\(count) bytes\(type.map { " " + $0.essence } ?? "")>" }
}

extension String {
    /// The text of a JSON string, without its quotes.
    var escapedForJSON: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return (try? encoder.encode(self)).map { String(decoding: $0.dropFirst().dropLast(), as: UTF8.self) } ?? ""
    }
}
