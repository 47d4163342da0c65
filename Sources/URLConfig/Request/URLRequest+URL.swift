/// A configuration's host, taken apart once, when it is set: joining a path to it is then one pass over the text.
struct BaseURL: Sendable {
    /// As it was written.
    let text: String
    /// Scheme, host, port and base path, without a slash at the end.
    private(set) var prefix = ""
    private(set) var endsInSlash = false
    private(set) var query: String?
    /// What is wrong with it, and what to do.
    private(set) var flaw: String?

    init(_ text: String) {
        self.text = text
        do {
            try parse()
        } catch {
            flaw = error.summary
        }
    }

    private mutating func parse() throws {
        guard !text.isEmpty else { throw Flaw("is empty; set it, or URLRequest.Config.defaultHost") }
        guard let separator = text.range(of: "://") else { throw Flaw("has no scheme; start it with https://") }
        let scheme = text[..<separator.lowerBound].lowercased()
        guard scheme == "https" || scheme == "http" else { throw Flaw("has a scheme other than http and https") }
        let rest = text[separator.upperBound...]
        let authority = rest.prefix { !"/?#\\".contains($0) }
        prefix = try "\(scheme)://" + Self.authority(authority)
        guard !rest.contains("#") else { throw Flaw("has a fragment, which a request cannot send; remove it") }

        let path = URLRequest.Path(String(rest[authority.endIndex...]))
        if let flaw = path.flaw { throw Flaw(flaw) }
        prefix += path.text
        while prefix.utf8.last == UInt8(ascii: "/") {
            prefix.removeLast()
            endsInSlash = true
        }
        query = path.query
    }

    private static func authority(_ text: Substring) throws -> String {
        guard !text.contains("@") else {
            throw Flaw("holds a user name or password; remove it and set authorization = .basic(username:password:)")
        }
        let colon = text.lastIndex { $0 == ":" || $0 == "]" }.flatMap { text[$0] == ":" ? $0 : nil }
        let host = try host(text[..<(colon ?? text.endIndex)])
        guard let colon else { return host }
        let port = text[text.index(after: colon)...]
        guard port.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else {
            throw Flaw("has a port that is no number")
        }
        guard !port.isEmpty else { return host }
        guard UInt16(port) != nil else { throw Flaw("has a port over 65535") }
        return "\(host):\(port)"
    }

    private static func host(_ text: Substring) throws -> String {
        guard !text.isEmpty else { throw Flaw("names no host after the scheme") }
        if text.first == "[" {
            let isAddress = text.dropFirst().dropLast().utf8.allSatisfy {
                UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0 | 0x20
                    || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".")
            }
            guard text.last == "]", isAddress else { throw Flaw("has an IPv6 address that is not well formed") }
            return String(text)
        }
        if text.utf8.allSatisfy(Allowed.unreserved) { return String(text) }
        let hasNonASCII = text.utf8.contains { $0 >= 0x80 }
        guard hasNonASCII, let host = URL(string: "https://\(text)")?.host(percentEncoded: true),
            host.utf8.allSatisfy(Allowed.unreserved)
        else { throw Flaw("has a host with characters that a host name cannot hold") }
        return host
    }
}

extension URLRequest.Config {
    /// Base, path and query joined: percent-encoded throughout, written in one pass.
    var urlText: String {
        var output = ""
        output.reserveCapacity(base.prefix.utf8.count + path.text.utf8.count + 24 * query.items.count + 16)
        output += base.prefix
        if !path.text.isEmpty {
            output += "/"
            if path.text.utf8.first == UInt8(ascii: "/") {
                output += Substring(path.text.utf8.drop { $0 == UInt8(ascii: "/") })
            } else {
                output += path.text
            }
        } else if base.endsInSlash {
            output += "/"
        }
        var separator = "?"
        for query in [base.query, path.query] {
            guard let query, !query.isEmpty else { continue }
            output += separator
            output += query
            separator = "&"
        }
        if !query.isEmpty {
            output += separator
            query.write(to: &output)
        }
        return output
    }
}
