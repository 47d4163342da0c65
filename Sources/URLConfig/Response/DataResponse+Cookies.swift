extension DataResponse {
    /// The cookies in the `Set-Cookie` fields (RFC 6265 §5.2), in their order.
    ///
    /// ```swift
    /// // Set-Cookie: sid=31d4; Path=/; Max-Age=3600; HttpOnly
    /// response.cookies.first { $0.name == "sid" }?.value     // 31d4
    /// ```
    ///
    /// Those that are not well formed, or for another host than that of ``url``, are left out. The session has stored them
    /// already, if its configuration says so.
    public var cookies: [HTTPCookie] {
        guard let url, let field = headerFields[.setCookie] else { return [] }
        return HTTPCookie.cookies(in: field, from: url, now: Date())
    }
}

extension HTTPCookie {
    /// The cookies in `Set-Cookie` fields that Foundation has made one of, with commas between them.
    ///
    /// Foundation's own function for this ends the process on Linux if a name holds an emoji, and knows no `Max-Age` there.
    ///
    /// - Parameters:
    ///   - field: The field.
    ///   - url: Where it comes from.
    ///   - now: What `Max-Age` is counted from.
    static func cookies(in field: String, from url: URL, now: Date) -> [HTTPCookie] {
        guard let host = url.host()?.lowercased() else { return [] }
        return field.separateCookies.compactMap { text in
            var scanner = FieldScanner(text)
            return scanner.cookieProperties(host: host, now: now).flatMap(HTTPCookie.init(properties:))
        }
    }
}

extension String {
    /// A comma separates two cookies if a name and an equals sign follow it: dates and values hold commas too.
    fileprivate var separateCookies: [Substring] {
        var cookies: [Substring] = []
        var start = startIndex
        for comma in utf8.indices where utf8[comma] == UInt8(ascii: ",") {
            let next = utf8.index(after: comma)
            var scanner = FieldScanner(self[next...])
            scanner.skipSpace()
            guard scanner.token() != nil else { continue }
            scanner.skipSpace()
            guard scanner.isAt(UInt8(ascii: "=")) else { continue }
            cookies.append(self[start..<comma])
            start = next
        }
        return cookies + [self[start...]]
    }

    fileprivate var hasControls: Bool { utf8.contains { $0 < 0x20 || $0 == 0x7F } }

    /// Whether it is an IP address and no name: no top-level domain ends with a digit.
    fileprivate var isAddress: Bool { contains(":") || last?.isNumber == true }

    /// Whether a cookie from a host may be for all of this domain (RFC 6265 §5.3): not for `com` or `co.uk`.
    ///
    /// There is no list of all suffixes that anybody may register a name under; these are those of most countries.
    fileprivate func isDomain(of host: String) -> Bool {
        let isSuffix = !contains(".") || wholeMatch(of: /(ac|co|com|edu|go|gob|gov|mil|ne|net|or|org)\.[a-z]{2}/) != nil
        return self == host || (!isSuffix && !host.isAddress && host.hasSuffix("." + self))
    }

    /// When what is that old expires (RFC 6265 §5.2.2); `nil` if this is no number of seconds.
    fileprivate func expiry(now: Date) -> Date? {
        guard let seconds = Double(self), utf8.allSatisfy({ "-0123456789".utf8.contains($0) }) else { return nil }
        return seconds > 0 ? min(now + seconds, .distantFuture) : .distantPast
    }
}

extension FieldScanner {
    /// RFC 6265 §5.2; `nil` for what is no cookie, or none that this host may set.
    fileprivate mutating func cookieProperties(host: String, now: Date) -> [HTTPCookiePropertyKey: Any]? {
        let name = text(to: UInt8(ascii: "="), UInt8(ascii: ";"))
        guard skip(UInt8(ascii: "=")), !name.isEmpty else { return nil }
        let value = text(to: UInt8(ascii: ";"))
        guard !name.hasControls, !value.hasControls else { return nil }
        // As Foundation has it; the RFC would take the folder of the request.
        var properties: [HTTPCookiePropertyKey: Any] = [.name: name, .value: value, .domain: host, .path: "/"]
        var age: Date?
        while skip(UInt8(ascii: ";")) {
            let attribute = text(to: UInt8(ascii: "="), UInt8(ascii: ";")).lowercased()
            let value = skip(UInt8(ascii: "=")) ? text(to: UInt8(ascii: ";")) : ""
            switch attribute {
            case "expires": properties[.expires] = Date(cookieDate: value) ?? properties[.expires]
            case "max-age": age = value.expiry(now: now) ?? age
            case "path": properties[.path] = value.hasPrefix("/") ? value : "/"
            case "secure": properties[.secure] = "TRUE"
            case "httponly": properties[HTTPCookiePropertyKey("HttpOnly")] = "TRUE"
            case "domain" where !value.isEmpty:
                let domain = String(value.lowercased().drop { $0 == "." })
                guard domain.isDomain(of: host) else { return nil }
                properties[.domain] = domain == host && host.isAddress ? host : "." + domain
            default: break
            }
        }
        if let age { properties[.expires] = age }
        return properties
    }
}
