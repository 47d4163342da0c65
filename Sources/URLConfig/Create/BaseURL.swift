/// The host of a configuration, parsed when it is set.
///
/// A class, so that a copy of a configuration increments one reference count here, not five.
final class BaseURL: Sendable {
    struct Parts {
        /// Scheme, host, port and path, without a slash at the end.
        var prefix: [UInt8]
        let endsInSlash: Bool
        let query: [UInt8]?

        var url: URL? { URL(string: String(decoding: prefix, as: UTF8.self)) }
    }

    let text: String
    let parts: Result<Parts, InvalidInput>

    init(_ text: String) {
        self.text = text
        parts = Result { () throws(InvalidInput) in try Self.parse(text) }
    }

    private static func parse(_ text: String) throws(InvalidInput) -> Parts {
        guard !text.isEmpty else { throw InvalidInput("is empty; set it, or URLRequest.Config.default.host") }
        let (origin, rest) = try origin(text)
        guard !rest.utf8.contains(UInt8(ascii: "#")) else {
            throw InvalidInput("has a fragment, which a request cannot send; remove it")
        }
        let path = URLRequest.Path(String(rest))
        if let reason = path.invalidReason { throw InvalidInput(reason) }
        let slash = UInt8(ascii: "/")
        var parts = Parts(
            prefix: origin.utf8 + path.text, endsInSlash: path.text.last == slash, query: path.query)
        while parts.prefix.last == slash { parts.prefix.removeLast() }
        return parts
    }

    /// The origin of an absolute HTTP URL, and what follows it.
    static func origin(_ text: String) throws(InvalidInput) -> (origin: String, rest: Substring) {
        guard !text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else {
            throw InvalidInput("contains a space or a control character; remove it")
        }
        guard !text.utf8.contains(UInt8(ascii: "\\")) else {
            throw InvalidInput("contains a backslash, which some parsers read as a slash; remove it")
        }
        guard let separator = text.utf8.firstRange(of: "://".utf8) else {
            throw InvalidInput("has no scheme; start it with https://")
        }
        let scheme = text[..<separator.lowerBound].lowercased()
        guard scheme == "https" || scheme == "http" else {
            throw InvalidInput("has a scheme other than http and https")
        }
        let rest = text[separator.upperBound...]
        // By bytes, not characters: a delimiter and a combining accent after it are one character.
        let authority = Substring(rest.utf8.prefix { !"/?#".utf8.contains($0) })
        return (try "\(scheme)://" + Self.authority(authority), rest[authority.endIndex...])
    }

    private static func authority(_ text: Substring) throws(InvalidInput) -> String {
        guard !text.utf8.contains(UInt8(ascii: "@")) else {
            throw InvalidInput(
                "has a user name or password; remove it and set authorization = .basic(username:password:)")
        }
        let mark = text.utf8.lastIndex { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "]") }
        guard let mark, text.utf8[mark] == UInt8(ascii: ":") else { return try host(text) }
        let port = text[text.utf8.index(after: mark)...]
        guard port.isEmpty || port.utf8.allSatisfy(\.isDigit) && UInt16(port) != nil else {
            throw InvalidInput("has a port that is not a number up to 65535")
        }
        let host = try host(text[..<mark])
        return port.isEmpty ? host : "\(host):\(port)"
    }

    private static func host(_ text: Substring) throws(InvalidInput) -> String {
        guard !text.isEmpty else { throw InvalidInput("has no host after the scheme") }
        if text.utf8.first == UInt8(ascii: "[") {
            var address = in6_addr()
            guard text.utf8.last == UInt8(ascii: "]"),
                inet_pton(AF_INET6, String(text.dropFirst().dropLast()), &address) == 1
            else { throw InvalidInput("has a malformed IPv6 address") }
            return String(text)
        }
        if text.utf8.allSatisfy(PercentEncoding.unreserved.allows) { return String(text) }
        guard text.utf8.contains(where: { $0 >= 0x80 }),
            // The property `host` of this URL may still be the international name.
            let host = URL(string: "https://\(text)")?.absoluteString.dropFirst("https://".count), !host.isEmpty,
            host.utf8.allSatisfy(PercentEncoding.unreserved.allows)
        else {
            throw InvalidInput(
                "has characters that a host name cannot contain; write an international name in ASCII, as xn--…")
        }
        return String(host)
    }
}
