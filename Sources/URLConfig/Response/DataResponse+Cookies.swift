extension DataResponse {
    /// The cookies in the `Set-Cookie` fields (RFC 6265 §5.2), in their order.
    ///
    /// ```swift
    /// // Set-Cookie: sid=31d4; Path=/; Max-Age=3600; HttpOnly
    /// response.cookies.first { $0.name == "sid" }?.value     // 31d4
    /// ```
    ///
    /// A cookie is ignored if it is malformed, belongs to another host than that of ``url``, is `Secure` but was not
    /// received over `https`, or violates the rules of its prefix `__Secure-` or `__Host-` (RFC 6265bis §4.1.3, §5.7).
    public var cookies: [HTTPCookie] {
        guard let url, let field = headerFields[.setCookie] else { return [] }
        return HTTPCookie.cookies(in: field, from: url, now: Date())
    }
}

extension HTTPCookie {
    /// The cookies in `Set-Cookie` fields that Foundation has joined with commas.
    ///
    /// Foundation's own function crashes on Linux if a name contains an emoji, and ignores `Max-Age` there.
    static func cookies(in field: String, from url: URL, now: Date) -> [HTTPCookie] {
        field.separateCookies.compactMap { HTTPCookie($0, from: url, now: now) }
    }

    /// Parses a cookie (RFC 6265 §5.2); `nil` if it is malformed, or if this host may not set it.
    private convenience init?(_ text: Substring, from url: URL, now: Date) {
        var scanner = FieldScanner(text)
        let name = scanner.text(to: "=;")
        guard let host = url.host()?.lowercased(), scanner.skip("="), !name.isEmpty else { return nil }
        let value = scanner.text(to: ";")
        guard !(name + value).utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return nil }
        // Foundation's default path; the default of the RFC is the directory of the request.
        var properties: [HTTPCookiePropertyKey: Any] = [.name: name, .value: value, .domain: host, .path: "/"]
        var age: Date?
        var path = ""
        var isHostOnly = true
        while scanner.skip(";") {
            let attribute = scanner.text(to: "=;")
            let value = scanner.skip("=") ? scanner.text(to: ";") : ""
            switch attribute.utf8.count <= 8 ? attribute.lowercased() : "" {
            case "expires": properties[.expires] = Date(cookieDate: value) ?? properties[.expires]
            case "max-age" where value.utf8.allSatisfy { $0.isDigit || $0 == UInt8(ascii: "-") }:
                guard let seconds = Double(value) else { break }
                age = seconds > 0 ? min(now + seconds, .distantFuture) : .distantPast
            case "path": path = value
            case "secure":
                guard url.scheme?.lowercased() == "https" else { return nil }
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
        properties[.expires] = age ?? properties[.expires]
        if path.utf8.first == UInt8(ascii: "/") { properties[.path] = path }
        // RFC 6265bis §4.1.3. Some servers ignore the case of a prefix.
        let prefix = name.lowercased().utf8
        let isMarked = properties[.secure] != nil
        let isForWholeHost = isMarked && isHostOnly && path.utf8.elementsEqual("/".utf8)
        if !isMarked && prefix.starts(with: "__secure-".utf8) { return nil }
        if !isForWholeHost && prefix.starts(with: "__host-".utf8) { return nil }
        self.init(properties: properties)
    }
}

extension String {
    /// A comma separates two cookies if a name and an equals sign follow it: dates and values contain commas too.
    fileprivate var separateCookies: [Substring] {
        var cookies: [Substring] = []
        var start = startIndex
        for comma in utf8.indices where utf8[comma] == UInt8(ascii: ",") {
            let next = utf8.index(after: comma)
            var scanner = FieldScanner(self[next...])
            scanner.skipSpace()
            guard scanner.token() != nil else { continue }
            scanner.skipSpace()
            guard scanner.isAt("=") else { continue }
            cookies.append(self[start..<comma])
            start = next
        }
        return cookies + [self[start...]]
    }

    /// Whether a host is an IP address: no top-level domain ends with a digit.
    fileprivate var isAddress: Bool { contains(":") || last?.isNumber == true }

    /// Whether a host may set a cookie for this domain (RFC 6265 §5.3): not for `com` or `co.uk`.
    ///
    /// The suffixes of most countries are known, but not every public suffix.
    fileprivate func isDomain(of host: String) -> Bool {
        let isSuffix = !contains(".") || wholeMatch(of: /(ac|co|com|edu|go|gob|gov|mil|ne|net|or|org)\.[a-z]{2}/) != nil
        return self == host || (!isSuffix && !host.isAddress && host.hasSuffix("." + self))
    }
}
