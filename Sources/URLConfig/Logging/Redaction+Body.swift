extension Redaction {
    /// A body for the eye: pretty JSON, or text, or a summary of what is no text.
    ///
    /// - Parameter limit: The most bytes that are shown; the text says if there are more.
    func body(_ data: Data, _ contentType: MediaType?, limit: Int = .max) -> String {
        guard !data.isEmpty, limit > 0 else { return "" }
        let summary = "<\(data.count) bytes\(contentType.map { " " + $0.essence } ?? "")>"
        guard contentType?.isText ?? true, let text = data.prefix(limit).shownText(contentType) else { return summary }
        let shown = masked(text, contentType, isPretty: true)
        return shown.escapingControls + (data.count > limit ? "… (\(data.count) bytes in all)" : "")
    }

    /// A body as it would be sent, but for what is hidden.
    func sentBody(_ data: Data, _ contentType: MediaType?) -> Data {
        guard isActive else { return data }
        if let boundary = contentType?.parameters["boundary"], contentType?.isMultipart == true {
            return multipart(Array(data), boundary: boundary)
        }
        // First, since UTF-16 may well be valid UTF-8, with a NUL after each letter.
        if let text = contentType?.parameters["charset"].flatMap({ data.text(charset: $0) }) {
            let masked = masked(text, contentType, isPretty: false)
            return masked.utf8.elementsEqual(text.utf8) ? data : Data(masked.utf8)
        }
        if let text = String(data: data, encoding: .utf8) {
            return Data(masked(text, contentType, isPretty: false).utf8)
        }
        // Latin-1 has a character for every byte, so that what is not masked comes out as it went in.
        guard contentType?.isText ?? true, let text = String(data: data, encoding: .isoLatin1) else { return data }
        return masked(text, contentType, isPretty: false).data(using: .isoLatin1) ?? Data()
    }

    private func masked(_ text: String, _ contentType: MediaType?, isPretty: Bool) -> String {
        if contentType?.isForm == true { return items(text[...], isURL: false) }
        let start = text.utf8.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        let isJSON = (contentType?.isJSON ?? true) && (start == UInt8(ascii: "{") || start == UInt8(ascii: "["))
        let masked = json(text, isPretty: isPretty && isJSON)
        // A body that names no content type is sent as a form.
        return contentType == nil && !isJSON ? items(masked[...], isURL: false) : masked
    }

    /// JSON, the values of hidden members masked.
    func json(_ text: String, isPretty: Bool) -> String {
        JSONText.masked(text, isPretty: isPretty, hides: hides) { string in
            switch string.utf8.first {
            case _ where !isActive: string
            case UInt8(ascii: "{"), UInt8(ascii: "["): json(string, isPretty: false)
            case _ where string.utf8.firstRange(of: "://".utf8) != nil: maskedURL(string)
            default: items(string[...], isURL: true)
            }
        }
    }

    /// A multipart body, the content of hidden fields masked.
    private func multipart(_ body: [UInt8], boundary: String) -> Data {
        var output = Data()
        var start = 0
        for delimiter in body.ranges(of: Array("--\(boundary)".utf8)) {
            output += part(body[start..<delimiter.lowerBound])
            output += body[delimiter]
            start = delimiter.upperBound
        }
        return output + part(body[start...])
    }

    private func part(_ part: ArraySlice<UInt8>) -> Data {
        guard let start = part.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound else { return Data(part) }
        let content = Data(part[start...])
        var scanner = FieldScanner(String(decoding: part[..<start], as: UTF8.self))
        let (name, type) = scanner.partParameters()
        if let name, hides(name) { return part[..<start] + Data("\(Self.mask)\r\n".utf8) }
        return part[..<start] + (type.isMultipart ? content : sentBody(content, type))
    }
}

extension FieldScanner {
    /// The name of a part and its media type, wherever in its header they are.
    fileprivate mutating func partParameters() -> (name: String?, type: MediaType) {
        let space = "; \t\r\n"
        var (name, type): (String?, MediaType?)
        while !isAtEnd {
            switch token()?.lowercased() {
            case "name" where name == nil && skip("="): name = quotedString() ?? text(to: space)
            case "content-type" where type == nil && skip(":"):
                type = MediaType(text(to: "\r\n"))
            default: break
            }
            skip(to: space)
            skip(while: space)
        }
        return (name, type ?? .text)
    }
}

extension Data {
    /// The text of a body that may be cut in the middle of a character; `nil` for what is no text.
    fileprivate func shownText(_ contentType: MediaType?) -> String? {
        let charset = contentType?.parameters["charset"]
        for length in stride(from: count, through: Swift.max(count - 3, 0), by: -1) {
            guard let text = prefix(length).text(charset: charset), !text.isEmpty else { continue }
            return text.utf8.contains(0) ? nil : text
        }
        return nil
    }
}
