/// A configuration's host, taken apart once, when it is set: joining a path to it is then one pass over the text.
///
/// A class, so that copying a configuration counts one reference here, not five.
final class BaseURL: Sendable {
    /// As it was written.
    let text: String
    /// Scheme, host, port and base path, without a slash at the end.
    let prefix: String
    let endsInSlash: Bool
    let query: String?
    /// What is wrong with it, and what to do.
    let invalidReason: String?

    init(_ text: String) {
        self.text = text
        var prefix = ""
        var path = URLRequest.Path("")
        var invalidReason: String?
        do {
            (prefix, path) = try Self.parse(text)
        } catch {
            invalidReason = error.summary
        }
        query = path.query
        endsInSlash = path.text.utf8.last == UInt8(ascii: "/")
        let end = path.text.utf8.lastIndex { $0 != UInt8(ascii: "/") }
        self.prefix = prefix + (end.map { path.text[...$0] } ?? "")
        self.invalidReason = invalidReason ?? path.invalidReason
    }

    private static func parse(_ text: String) throws -> (origin: String, path: URLRequest.Path) {
        guard !text.isEmpty else { throw Reason("is empty; set it, or URLRequest.Config.defaultHost") }
        guard !text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else {
            throw Reason("holds a space or a control character; remove it")
        }
        guard !text.utf8.contains(UInt8(ascii: "\\")) else {
            throw Reason("holds a backslash, which some take for a slash and others for a part of a name; remove it")
        }
        guard let separator = text.utf8.firstRange(of: "://".utf8) else {
            throw Reason("has no scheme; start it with https://")
        }
        let scheme = text[..<separator.lowerBound].lowercased()
        guard scheme == "https" || scheme == "http" else { throw Reason("has a scheme other than http and https") }
        let rest = text[separator.upperBound...]
        // By bytes, not characters: a delimiter and a combining accent after it are one character.
        let authority = Substring(rest.utf8.prefix { !"/?#".utf8.contains($0) })
        let origin = try "\(scheme)://" + Self.authority(authority)
        if authority.utf8.first == UInt8(ascii: "["), let invalidReason = URL.invalidReasonOfIPv6 { throw Reason(invalidReason) }
        guard !rest.utf8.contains(UInt8(ascii: "#")) else {
            throw Reason("has a fragment, which a request cannot send; remove it")
        }
        return (origin, URLRequest.Path(String(rest[authority.endIndex...])))
    }

    private static func authority(_ text: Substring) throws -> String {
        guard !text.utf8.contains(UInt8(ascii: "@")) else {
            throw Reason("holds a user name or password; remove it and set authorization = .basic(username:password:)")
        }
        let mark = text.utf8.lastIndex { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "]") }
        let colon = mark.flatMap { text.utf8[$0] == UInt8(ascii: ":") ? $0 : nil }
        let host = try host(text[..<(colon ?? text.endIndex)])
        guard let colon else { return host }
        let port = text[text.utf8.index(after: colon)...]
        guard port.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else {
            throw Reason("has a port that is no number")
        }
        guard !port.isEmpty else { return host }
        guard UInt16(port) != nil else { throw Reason("has a port over 65535") }
        return "\(host):\(port)"
    }

    private static func host(_ text: Substring) throws -> String {
        guard !text.isEmpty else { throw Reason("names no host after the scheme") }
        if text.utf8.first == UInt8(ascii: "[") {
            var address = in6_addr()
            guard text.utf8.last == UInt8(ascii: "]"),
                inet_pton(AF_INET6, String(text.dropFirst().dropLast()), &address) == 1
            else { throw Reason("has an IPv6 address that is not well formed") }
            return String(text)
        }
        if text.utf8.allSatisfy(PercentEncoding.unreserved.allows) { return String(text) }
        let hasNonASCII = text.utf8.contains { $0 >= 0x80 }
        guard hasNonASCII, let host = URL(string: "https://\(text)")?.host(percentEncoded: true),
            host.utf8.allSatisfy(PercentEncoding.unreserved.allows)
        else {
            throw Reason(
                "has characters that a host name cannot hold; write an international name in ASCII, as xn--…")
        }
        return host
    }
}

extension URL {
    /// What is wrong with an IPv6 address as host; `nil` where nothing is.
    static let invalidReasonOfIPv6: String? = {
        #if canImport(FoundationNetworking)
        "has an IPv6 address, which Foundation on Linux does not request; use a name or an IPv4 address"
        #else
        nil
        #endif
    }()
}

extension URLRequest.Config {
    /// Base, path and query joined: percent-encoded throughout, written in one pass.
    var urlText: String {
        let queries = base.query == nil && path.query == nil ? [] : [base.query, path.query].compactMap(\.self)
        let capacity = queries.reduce(base.prefix.utf8.count + path.text.utf8.count + query.capacity + 4) {
            $0 + $1.utf8.count
        }
        return ByteWriter.text(capacity: capacity) { writer in
            writer.write(base.prefix)
            if path.text.isEmpty ? base.endsInSlash : path.text.utf8.first != UInt8(ascii: "/") {
                writer.write(UInt8(ascii: "/"))
            }
            writer.write(path.text)
            var separator = UInt8(ascii: "?")
            for query in queries where !query.isEmpty {
                writer.write(separator)
                writer.write(query)
                separator = UInt8(ascii: "&")
            }
            if query.hasText {
                writer.write(separator)
                query.write(to: &writer, encoding: .unreserved)
            }
        }
    }
}
