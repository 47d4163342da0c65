/// Texts, header fields and URLs with their secrets hidden.
extension Redaction {
    /// Text, by default of any format.
    func masked(_ text: String, as format: SecretFinder.Format = .text) -> String {
        isActive ? String(decoding: SecretFinder(Array(text.utf8), format, self).masked(), as: UTF8.self) : text
    }

    /// The beginning of a server's text, at most 1,000 scalars: one character may be as long as the whole text.
    func quote(_ text: String, as format: SecretFinder.Format = .text) -> String {
        // More is searched than shown: a secret that is cut may not be found.
        let searched = text.unicodeScalars.prefix(2000)
        let shown = String(searched.prefix(1000))
        guard isActive else { return shown }
        let finder = SecretFinder(Array(String(searched).utf8), format, self, upTo: shown.utf8.count)
        return String(String(decoding: finder.masked(), as: UTF8.self).unicodeScalars.prefix(1000))
    }

    /// The beginning of a URL that a server has chosen, at most 1,000 scalars before controls are escaped.
    func quote(url text: String) -> String { quote(withoutUserinfo(text), as: .url).onOneLine }

    /// Text of this library; only the secrets that the call knows are masked.
    package func maskedByValue(_ text: String) -> String { masked(text, as: .known) }

    package func masked(field name: String, _ value: String) -> String {
        isSecret(Array(value.utf8), secrecy(of: name)) ? Self.mask : masked(value)
    }

    /// The value of an item of a query.
    func masked(item name: String, _ value: String) -> String {
        isSecret(Array(value.utf8), secrecy(ofItem: name)) ? Self.mask : masked(value)
    }

    /// Header fields, one on each line.
    func masked(_ fields: [(String, String)]) -> [String] {
        fields.map { "\($0): \(masked(field: $0, $1).onOneLine)" }
    }

    func masked(_ fields: HTTPFields) -> [String] { masked(fields.map { ($0.name.rawName, $0.value) }) }

    /// A URL, valid or not: userinfo and hidden items of the query and the fragment are masked.
    package func url(_ text: String) -> String { masked(withoutUserinfo(text), as: .url).onOneLine }

    private func withoutUserinfo(_ text: String) -> String {
        guard isActive else { return text }
        var text = text
        let slashes = text.utf8.firstRange(of: "//".utf8)?.upperBound
        let start = slashes.flatMap { text.utf8[..<$0].contains(UInt8(ascii: "@")) ? nil : $0 }
        let authority = text.utf8[(start ?? text.startIndex)...].prefix {
            !(start == nil ? "?#" : "/?#").utf8.contains($0)
        }
        if start != nil || text.utf8.first != UInt8(ascii: "/"), let at = authority.lastIndex(of: UInt8(ascii: "@")) {
            text.replaceSubrange(authority.startIndex..<at, with: Self.mask)
        }
        return text
    }

    /// An invalid base URL; everything before the last `@` is masked, since a password may contain delimiters.
    func host(_ text: String) -> String {
        guard isActive, let at = text.utf8.lastIndex(of: UInt8(ascii: "@")) else { return url(text) }
        let start = text.utf8.firstRange(of: "://".utf8)?.upperBound
        return url(text[..<(start.map { min($0, at) } ?? text.startIndex)] + Self.mask + text[at...])
    }
}

/// Bodies: JSON, forms, multipart forms and plain text are shown, and the size and the type of everything else.
extension Redaction {
    /// A body as it is logged: formatted JSON, text, or a summary.
    ///
    /// - Parameter limit: The most bytes that are shown.
    func body(_ data: Data, _ type: MediaType?, limit: Int = .max) -> String {
        guard !data.isEmpty, limit > 0 else { return "" }
        // More is searched than shown: a secret that is cut may not be found.
        let head = data.prefix(data.prefix(limit).count + 4096)
        let isCut = data.count > limit
        guard let text = text(head, type) else { return data.summary(type) }
        // The text may be shorter than the bytes.
        let isSearched = head.count == data.count
        let shownEnd = isSearched ? limit : min(limit, text.count - text.count * 4096 / head.count)
        guard var shown = masked(text, type, upTo: isCut ? shownEnd : .max) else { return data.summary(type) }
        if shown.isStructure, type?.isJSON ?? true { shown = JSONText(shown).output }
        let end = isCut ? "… (\(data.count) bytes in all)" : ""
        return String(decoding: shown, as: UTF8.self).escapingControls + end
    }

    /// A body for a curl command, with its secrets masked.
    func sentBody(_ data: Data, _ type: MediaType?) -> Data {
        guard isActive else { return data }
        let summary = Data(data.summary(type).utf8)
        let text = text(data, type)
        if let text, let masked = masked(text, type), masked != text { return Data(masked) }
        // If nothing was hidden, the character set may be wrong. JSON and forms have only ASCII delimiters.
        let hasBytes =
            text.map { SecretFinder.Format(type, $0) != nil } ?? (type?.isJSON == true || type?.isForm ?? true)
        return hasBytes ? masked(Array(data), type).map { Data($0) } ?? summary : summary
    }

    /// The text of a body, whose last character may be cut; `nil` for binary data.
    private func text(_ data: Data, _ type: MediaType?) -> [UInt8]? {
        if type?.isMultipart == true { return Array(data) }
        let texts = (0...3).lazy.compactMap { data.dropLast($0).text(charset: type?.charset) }
        guard let text = texts.first(where: { !$0.isEmpty }), !text.utf8.contains(0) else { return nil }
        return Array(text.utf8)
    }

    private func masked(_ text: [UInt8], _ type: MediaType?, upTo limit: Int = .max) -> [UInt8]? {
        guard isActive else { return type?.isText ?? true ? Array(text.prefix(limit)) : nil }
        return SecretFinder.Format(type, text).map { SecretFinder(text, $0, self, upTo: limit).masked() }
    }
}

/// An error of which only the type is shown.
struct UnquotedError: LocalizedError {
    let name: String
    var errorDescription: String? { name }
}

extension Error {
    /// The same error, which does not quote the content of its response.
    ///
    /// Of an error that can be decoded, such as ``Problem``, only the type is shown: it is content itself. A
    /// `DecodingError` quotes values.
    var withoutContent: any Error {
        guard var error = self as? RequestError else {
            return self is any Decodable || self is DecodingError ? UnquotedError(name: name) : self
        }
        error.isDiagnosed = false
        return error
    }

    /// The same error; its secrets are hidden where it is shown.
    func hiding(_ redaction: Redaction) -> any Error {
        switch self {
        case var error as RequestError:
            error.redaction = error.redaction ?? redaction
            if error.response?.redaction == nil { error.response?.redaction = redaction }
            return error
        case let error as URLError where redaction.isActive: return redaction.masked(error)
        default: return self
        }
    }
}

extension Redaction {
    /// The masked summary of an error; a ``RequestError`` masks the values under hidden names itself.
    func masked(_ error: any Error) -> String {
        let summary = error.summary(self)
        return (error is RequestError ? maskedByValue(summary) : masked(summary)).escapingControls
    }

    /// `print` shows the whole user info, including the underlying errors.
    fileprivate func masked(_ error: URLError) -> URLError {
        URLError(error.code, userInfo: error.errorUserInfo.mapped(masked))
    }

    private func masked(_ key: String, _ value: Any) -> Any {
        switch value {
        // URLError.failureURLPeerTrust reads the certificates. Attempts hide their secrets themselves.
        case _ where key == "NSURLErrorFailingURLPeerTrustErrorKey": value
        case _ where hides(key): Self.mask
        case is [Attempt], is NSNumber, is Bool, is any BinaryInteger, is any BinaryFloatingPoint, is Date: value
        case let url as URL: URL(string: self.url(url.absoluteString)) ?? url
        case let error as URLError: masked(error)
        case let values as [Any]: values.map { masked(key, $0) }
        case let values as [String: Any]: values.mapped(masked)
        case let request as URLRequest: request.summary(self)
        // The type is compared, because on Apple platforms every error can be cast to NSError.
        case let error as any Error where !(type(of: error) is NSError.Type) && masked("\(error)") == "\(error)": error
        case let error as NSError:
            NSError(domain: error.domain, code: error.code, userInfo: error.userInfo.mapped(masked))
        default: masked("\(value)")
        }
    }
}

extension [String: Any] {
    fileprivate func mapped(_ change: (String, Any) -> Any) -> Self {
        Dictionary(uniqueKeysWithValues: map { ($0, change($0, $1)) })
    }
}
