/// Which values are hidden wherever a request or a response is shown: logs, errors, cURL lines.
///
/// One set of names serves header fields, query and form items, and JSON members alike. Case and punctuation do not count,
/// and a name is hidden too if it ends in one of the set that has five letters or more: `token` hides `access_token`,
/// `X-Auth-Token` and `user[token]`, where `pin` leaves `spin` alone. User name and password in a URL are always hidden, but by ``none``.
///
/// ```swift
/// URLSession.Config.default.redaction = .standard.adding("ssn", "X-Tenant-Key")
/// ```
public struct Redaction: Sendable, Hashable {
    /// What stands for a hidden value.
    static let mask = "***"

    private var names: Set<String>
    /// The length of the longest name: what is before it in a name that a server sends is not looked at.
    private var longest: Int
    private var isActive = true

    /// Hides what is commonly secret: credentials, cookies, tokens, keys, passwords, signatures.
    public static let standard = Self(names: [
        "authorization", "auth", "xauth", "bearer", "credential", "credentials", "cookie", "dpop", "jwt", "token",
        "tokenhint", "tokenvalue", "assertion", "samlresponse", "codeverifier", "authenticationinfo", "password",
        "passwords",
        "passwordconfirmation", "passwordhash", "pass", "passwd", "pwd", "passphrase", "passcode", "otp", "pin", "cvv",
        "cvc",
        "secret", "secrets", "secretkey", "privatekey", "accesskey", "apikey", "apikeys", "appkey", "authkey",
        "subscriptionkey", "functionskey", "sessionid", "sessid", "sid", "signature", "sig",
    ])

    /// Hides nothing: for a look at one's own traffic.
    public static let none = {
        var redaction = Self(names: [])
        redaction.isActive = false
        return redaction
    }()

    private init(names: Set<String>) {
        self.names = names
        longest = names.map(\.count).max() ?? 0
    }

    /// This redaction, hiding more.
    ///
    /// - Parameter names: Names of header fields, query or form items, or JSON members.
    public func adding(_ names: String...) -> Self {
        var redaction = self
        redaction.isActive = true
        redaction.names.formUnion(names.map(Self.normalized).filter { !$0.isEmpty })
        redaction.longest = redaction.names.map(\.count).max() ?? 0
        return redaction
    }

    /// Whether the values under a name are hidden.
    ///
    /// - Parameter name: The name of a header field, a query or form item, or a JSON member.
    public func hides(_ name: String) -> Bool {
        guard isActive else { return false }
        let name = Self.normalized(name)
        if names.contains(name) { return true }
        var end = name.suffix(longest)
        while end.count >= 5 {
            if names.contains(String(end)) { return true }
            end.removeFirst()
        }
        return false
    }

    /// Letters and digits in lower case; digits at the end, as in `password[0]`, count only where there is nothing else.
    private static func normalized(_ name: String) -> String {
        let name = name.lowercased().filter { $0.isLetter || $0.isNumber }
        return name.lastIndex { !$0.isNumber }.map { String(name[...$0]) } ?? name
    }
}

extension Redaction {
    /// A URL, or what was meant to be one: userinfo, and hidden items of the query and the fragment, masked.
    func url(_ text: String) -> String {
        guard isActive else { return text.escapingControls }
        var text = text
        let slashes = text.utf8.firstRange(of: "//".utf8)
        let hasAuthority = slashes.map { !text.utf8[..<$0.lowerBound].contains(UInt8(ascii: "@")) } ?? false
        if hasAuthority || text.utf8.first != UInt8(ascii: "/") {
            let start = hasAuthority ? slashes?.upperBound ?? text.startIndex : text.startIndex
            let delimiters = hasAuthority ? "/?#" : "?#"
            let authority = text.utf8[start...].prefix { !delimiters.utf8.contains($0) }
            if let at = authority.lastIndex(of: UInt8(ascii: "@")) { text.replaceSubrange(start..<at, with: Self.mask) }
        }
        guard let start = text.utf8.firstIndex(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) else {
            return text.escapingControls
        }
        return (text[..<start] + items(text[start...], isURL: true)).escapingControls
    }

    /// A base URL that was refused: all before the last `@` is masked, since a password that should have been
    /// percent-encoded may hold any delimiter.
    func host(_ text: String) -> String {
        guard isActive, let at = text.utf8.lastIndex(of: UInt8(ascii: "@")) else { return url(text) }
        let start = text.utf8.firstRange(of: "://".utf8)?.upperBound
        return url(text[..<(start.map { min($0, at) } ?? text.startIndex)] + Self.mask + text[at...])
    }

    /// Items of a query, a fragment or a form: those that are hidden masked.
    ///
    /// More delimiters count for where a name may start than for where a hidden value ends: `;` and `?` may be part of it.
    ///
    /// By scalars, not characters: a delimiter and a combining accent after it are one character.
    func items(_ text: Substring, isURL: Bool) -> String {
        let delimiters: Set<Unicode.Scalar> = ["&", "?", "#", ";"]
        var output = ""
        var rest = text.unicodeScalars
        while let first = rest.first {
            if delimiters.contains(first) { output.unicodeScalars.append(rest.removeFirst()) }
            let item = rest.prefix { !delimiters.contains($0) }
            let name = String(Substring(item.prefix { $0 != "=" }))
            let decoded = name.replacing("+", with: " ").percentDecodedLeniently
            if name.unicodeScalars.count < item.count, hides(decoded) {
                output += "\(name)=\(Self.mask)"
                rest = rest.drop { $0 != "&" && !(isURL && $0 == "#") }
            } else {
                output += Substring(item)
                rest = rest[item.endIndex...]
            }
        }
        return output
    }

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
            return multipart(data, boundary: boundary)
        }
        // First, since UTF-16 may well be valid UTF-8, with a NUL after each letter.
        if let text = contentType?.parameters["charset"].flatMap({ data.text(charset: $0) }) {
            let masked = masked(text, contentType, isPretty: false)
            return masked == text ? data : Data(masked.utf8)
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
        let masked = JSONText.masked(text, isPretty: isPretty && isJSON, hides: hides)
        // A body that names no content type is sent as a form.
        return contentType == nil && !isJSON ? items(masked[...], isURL: false) : masked
    }

    /// A multipart body, the content of hidden fields masked.
    private func multipart(_ data: Data, boundary: String) -> Data {
        let delimiter = Data("--\(boundary)".utf8)
        let separator = Data("\r\n\r\n".utf8)
        var output = Data()
        var rest = data[...]
        while let end = rest.range(of: delimiter)?.lowerBound ?? (rest.isEmpty ? nil : rest.endIndex) {
            let part = rest[..<end]
            if let content = part.range(of: separator)?.upperBound {
                output += part[..<content] + multipartContent(part[content...], header: part[..<content])
            } else {
                output += part
            }
            guard end < rest.endIndex else { break }
            output += delimiter
            rest = rest[(end + delimiter.count)...]
        }
        return output
    }

    private func multipartContent(_ content: Data, header: Data) -> Data {
        let header = String(decoding: header, as: UTF8.self)
        let name = header.firstMatch(of: /(?i)[;\s]name=(?:"([^"]*)"|([^;\s]*))/).flatMap { $0.1 ?? $0.2 }
        if let name, hides(String(name)) { return Data("\(Self.mask)\r\n".utf8) }
        let type = header.firstMatch(of: /(?i)content-type:([^\r\n]*)/).flatMap { MediaType(String($0.1)) } ?? .text
        return type.isMultipart ? content : sentBody(content, type)
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

extension String {
    /// Without control and text-direction characters, which could rewrite a terminal or forge a line of a log; line feeds
    /// and tabs stay.
    var escapingControls: String {
        guard unicodeScalars.contains(where: \.isHarmful) else { return self }
        return unicodeScalars.reduce(into: "") { output, scalar in
            if scalar.isHarmful {
                output += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                output.unicodeScalars.append(scalar)
            }
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isHarmful: Bool {
        switch value {
        case 0x09, 0x0A: false
        case 0...0x1F, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028, 0x2029, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

extension String {
    /// With every valid `%XX` decoded, whatever the others are: a name must not hide itself behind one that is not valid.
    fileprivate var percentDecodedLeniently: String {
        if let decoded = removingPercentEncoding { return decoded }
        let decoded = replacing(/%([0-9A-Fa-f]{2})/) { match in
            UInt8(match.1, radix: 16).map { String(Unicode.Scalar($0)) } ?? ""
        }
        return decoded
    }
}
