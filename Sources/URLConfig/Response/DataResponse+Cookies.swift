extension DataResponse {
    /// The cookies in the `Set-Cookie` fields (RFC 6265 §5.2), in their order.
    ///
    /// ```swift
    /// // Set-Cookie: sid=31d4; Path=/; Max-Age=3600; HttpOnly
    /// response.cookies.first { $0.name == "sid" }?.value     // 31d4
    /// ```
    ///
    /// Those that are not well formed, or for another host than that of ``url``, are left out. So are those that are
    /// `Secure` but do not come from `https`, and those that are not what the prefix `__Secure-` or `__Host-` of their
    /// name promises (RFC 6265bis §4.1.3, §5.7). The session has stored the others already, if its configuration says
    /// so.
    public var cookies: [HTTPCookie] {
        guard let url, let field = headerFields[.setCookie] else { return [] }
        return HTTPCookie.cookies(in: field, from: url, now: Date())
    }
}

extension HTTPCookie {
    /// The cookies in `Set-Cookie` fields that Foundation has made one of, with commas between them.
    ///
    /// Foundation's own function for this ends the process on Linux if a name holds an emoji, and knows no `Max-Age`
    /// there.
    ///
    /// - Parameters:
    ///   - field: The field.
    ///   - url: Where it comes from.
    ///   - now: What `Max-Age` is counted from.
    static func cookies(in field: String, from url: URL, now: Date) -> [HTTPCookie] {
        guard let host = url.host()?.lowercased() else { return [] }
        let isSecure = url.scheme?.lowercased() == "https"
        return field.separateCookies.compactMap { text in
            var scanner = FieldScanner(text)
            return scanner.cookieProperties(host: host, isSecure: isSecure, now: now).flatMap(
                HTTPCookie.init(properties:))
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

    /// RFC 6265bis §4.1.3; case does not count, since there are servers for which it does not.
    fileprivate func hasCookiePrefix(_ prefix: String) -> Bool {
        String(decoding: utf8.prefix(prefix.utf8.count), as: UTF8.self).lowercased() == prefix
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
    fileprivate mutating func cookieProperties(
        host: String, isSecure: Bool, now: Date
    ) -> [HTTPCookiePropertyKey: Any]? {
        let name = text(to: UInt8(ascii: "="), UInt8(ascii: ";"))
        guard skip(UInt8(ascii: "=")), !name.isEmpty else { return nil }
        let value = text(to: UInt8(ascii: ";"))
        guard !name.hasControls, !value.hasControls else { return nil }
        // As Foundation has it; the RFC would take the folder of the request.
        var properties: [HTTPCookiePropertyKey: Any] = [.name: name, .value: value, .domain: host, .path: "/"]
        var age: Date?
        var path: String?
        var isHostOnly = true
        while skip(UInt8(ascii: ";")) {
            let attribute = text(to: UInt8(ascii: "="), UInt8(ascii: ";"))
            let value = skip(UInt8(ascii: "=")) ? text(to: UInt8(ascii: ";")) : ""
            switch attribute.utf8.count <= 8 ? attribute.lowercased() : "" {
            case "expires": properties[.expires] = Date(cookieDate: value) ?? properties[.expires]
            case "max-age": age = value.expiry(now: now) ?? age
            case "path": path = value
            case "secure":
                guard isSecure else { return nil }
                properties[.secure] = "TRUE"
            case "httponly": properties[HTTPCookiePropertyKey("HttpOnly")] = "TRUE"
            case "domain" where !value.isEmpty:
                let domain = String(Substring(value.lowercased().utf8.drop { $0 == UInt8(ascii: ".") }))
                guard domain.utf8.count <= host.utf8.count, domain.isDomain(of: host) else { return nil }
                properties[.domain] = domain == host && host.isAddress ? host : "." + domain
                isHostOnly = false
            default: break
            }
        }
        if let age { properties[.expires] = age }
        if let path, path.utf8.first == UInt8(ascii: "/") { properties[.path] = path }
        let isMarked = properties[.secure] != nil
        guard isMarked || !name.hasCookiePrefix("__secure-"),
            isMarked && isHostOnly && path?.utf8.elementsEqual("/".utf8) == true || !name.hasCookiePrefix("__host-")
        else { return nil }
        return properties
    }
}
