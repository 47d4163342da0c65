/// What is shown, masked: by value, as far as the call knows its secrets, by name and by shape.
extension Redaction {
    /// Text of any kind.
    func masked(_ text: String) -> String {
        String(decoding: masked(Array(text.utf8), .text, isPretty: false), as: UTF8.self)
    }

    /// Text of ours, in which only the values that the call knows are masked.
    func maskedByValue(_ text: String) -> String { String(decoding: masked(Array(text.utf8), .bytes), as: UTF8.self) }

    func masked(_ text: [UInt8], _ format: SecretFinder.Format) -> [UInt8] {
        guard isActive else { return text }
        var (output, end) = ([UInt8](), -1)
        for (range, _) in secrets(in: text, format).sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            if range.lowerBound > end { output += text[max(end, 0)..<range.lowerBound] + Array(Self.mask.utf8) }
            end = max(end, range.upperBound)
        }
        return end < 0 ? text : output + text[end...]
    }

    /// Where the secrets of a text are, and what they are: also behind up to three layers of escapes.
    func secrets(
        in text: [UInt8], _ format: SecretFinder.Format
    ) -> [(range: Range<Int>, value: ArraySlice<UInt8>)] {
        let matcher = known.matcher(self)
        var secrets: [(range: Range<Int>, value: ArraySlice<UInt8>)] = []
        var (level, starts) = (text, nil as [Int]?)
        for _ in 0...3 {
            for range in SecretFinder(level, format, self).ranges + matcher.ranges(in: level) {
                let place = starts.map { $0[range.lowerBound]..<$0[range.upperBound] } ?? range
                secrets.append((place, level[range]))
            }
            guard let next = level.unescaped() else { break }
            starts = starts.map { starts in next.starts.map { starts[$0] } } ?? next.starts
            level = next.bytes
        }
        return secrets
    }

    /// The value of a header field.
    func masked(field name: String, _ value: String) -> String { hides(name) ? Self.mask : masked(value) }

    /// The lines of a head.
    func masked(_ fields: HTTPFields) -> [String] {
        fields.map { "\($0.name.rawName): \(masked(field: $0.name.rawName, $0.value).onOneLine)" }
    }

    /// A URL, or what was meant to be one: userinfo, and hidden items of the query and the fragment, masked.
    func url(_ text: String) -> String {
        guard isActive else { return text.onOneLine }
        var text = text
        let slashes = text.utf8.firstRange(of: "//".utf8)
        let hasAuthority = slashes.map { !text.utf8[..<$0.lowerBound].contains(UInt8(ascii: "@")) } ?? false
        if hasAuthority || text.utf8.first != UInt8(ascii: "/") {
            let start = hasAuthority ? slashes?.upperBound ?? text.startIndex : text.startIndex
            let authority = text.utf8[start...].prefix { !(hasAuthority ? "/?#" : "?#").utf8.contains($0) }
            if let at = authority.lastIndex(of: UInt8(ascii: "@")) { text.replaceSubrange(start..<at, with: Self.mask) }
        }
        return masked(text).onOneLine
    }

    /// A base URL that was refused: all before the last `@` is masked, since a password that should have been
    /// percent-encoded may contain any delimiter.
    func host(_ text: String) -> String {
        guard isActive, let at = text.utf8.lastIndex(of: UInt8(ascii: "@")) else { return url(text) }
        let start = text.utf8.firstRange(of: "://".utf8)?.upperBound
        return url(text[..<(start.map { min($0, at) } ?? text.startIndex)] + Self.mask + text[at...])
    }
}

extension Redaction {
    /// A body for the eye: pretty JSON, or text, or a summary of what is no text.
    ///
    /// - Parameter limit: The most bytes that are shown; the text says if there are more.
    func body(_ data: Data, _ contentType: MediaType?, limit: Int = .max) -> String {
        guard !data.isEmpty, limit > 0 else { return "" }
        let summary = "<\(data.count) bytes\(contentType.map { " " + $0.essence } ?? "")>"
        guard contentType?.isText ?? true, let text = data.prefix(limit).shownText(contentType) else { return summary }
        let shown = String(decoding: masked(Array(text.utf8), contentType, isPretty: true), as: UTF8.self)
        return shown.escapingControls + (data.count > limit ? "… (\(data.count) bytes in all)" : "")
    }

    /// A body as it would be sent, except what is hidden.
    func sentBody(_ data: Data, _ contentType: MediaType?) -> Data {
        guard isActive else { return data }
        // First, since UTF-16 may well be valid UTF-8, with a NUL after each letter.
        if let text = contentType?.parameters["charset"].flatMap({ data.text(charset: $0) }) {
            let masked = masked(Array(text.utf8), contentType, isPretty: false)
            return masked.elementsEqual(text.utf8) ? data : Data(masked)
        }
        let isText =
            contentType.map { $0.isText || $0.isMultipart } ?? true || String(data: data, encoding: .utf8) != nil
        return Data(isText ? masked(Array(data), contentType, isPretty: false) : masked(Array(data), .bytes))
    }

    func masked(_ text: [UInt8], _ contentType: MediaType?, isPretty: Bool) -> [UInt8] {
        let start = text.first { !$0.isJSONSpace }
        let isStructure = start == UInt8(ascii: "{") || start == UInt8(ascii: "[")
        let format = SecretFinder.Format(contentType)
        guard isStructure && format != .form || contentType?.isJSON == true || isStructure && contentType == nil else {
            return masked(text, format)
        }
        var json = JSONTokenizer(text)
        json.check()
        // Of what is cut, all that there is may be JSON.
        let isJSON = json.fault.map { $0.offset == json.end } ?? true
        let isPretty = isPretty && isStructure && contentType?.isJSON ?? true
        let text = isJSON ? text : masked(text, .text)
        return isJSON || isPretty ? JSONText.masked(text, self, isPretty: isPretty) : text
    }
}

extension SecretFinder.Format {
    /// A body that names no content type is sent as a form.
    init(_ contentType: MediaType?) {
        let boundary = contentType?.isMultipart == true ? contentType?.parameters["boundary"] : nil
        self = boundary.map { .multipart(boundary: $0) } ?? (contentType?.isForm ?? true ? .form : .text)
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

extension Redaction {
    /// The beginning of a text that contains a server's words, laid out as it is.
    ///
    /// By scalars: a character may be as long as the whole text.
    func quote(_ text: String) -> String { masked(String(text.unicodeScalars.prefix(1000))) }
}
