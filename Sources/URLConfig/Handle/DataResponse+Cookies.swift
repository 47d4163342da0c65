extension DataResponse {
    /// The cookies in the `Set-Cookie` fields (RFC 6265 §5.2), in their order.
    ///
    /// ```swift
    /// // Set-Cookie: sid=31d4; Path=/; Max-Age=3600; HttpOnly
    /// response.cookies.first { $0.name == "sid" }?.value     // 31d4
    /// ```
    ///
    /// A cookie is ignored if it is malformed or longer than 4,096 bytes, belongs to another host than ``url``,
    /// is `Secure` but was not received over `https`, or violates the rules of its prefix `__Secure-` or `__Host-`
    /// (RFC 6265bis §4.1.3, §5.6, §5.7). Each field is one cookie, which may have no name.
    public var cookies: [HTTPCookie] {
        guard let url else { return [] }
        return headerFields[values: .setCookie].compactMap { HTTPCookie($0, from: url, now: Date()) }
    }
}

extension HTTPCookie {
    /// Parses a `Set-Cookie` field (RFC 6265bis §5.6); `nil` if it is malformed, or if this host may not set it.
    ///
    /// Foundation's own function crashes on Linux if a name contains an emoji, and ignores `Max-Age` there.
    convenience init?(_ text: String, from url: URL, now: Date) {
        var scanner = FieldScanner(text)
        let first = scanner.text(to: "=;")
        let (name, value) = scanner.skip("=") ? (first, scanner.text(to: ";")) : ("", first)
        guard let host = url.host()?.lowercased(), 1...4096 ~= name.utf8.count + value.utf8.count,
            !text.hasControlCharacter
        else { return nil }
        // Foundation's default path; the default of the RFC is the directory of the request.
        var properties: [HTTPCookiePropertyKey: Any] = [.name: name, .value: value, .domain: host, .path: "/"]
        var age: Date?
        var path = ""
        var domain = ""
        while scanner.skip(";") {
            let attribute = scanner.text(to: "=;")
            let value = scanner.skip("=") ? scanner.text(to: ";") : ""
            switch attribute.utf8.count <= 8 && value.utf8.count <= 1024 ? attribute.lowercased() : "" {
            case "expires": properties[.expires] = Date(cookieDate: value) ?? properties[.expires]
            case "max-age" where value.utf8.allSatisfy { $0.isDigit || $0 == UInt8(ascii: "-") }:
                guard let seconds = Double(value) else { break }
                age = seconds > 0 ? min(now + seconds, .distantFuture) : .distantPast
            case "path": path = value
            case "secure":
                guard url.isHTTPS else { return nil }
                properties[.secure] = "TRUE"
            case "httponly": properties[HTTPCookiePropertyKey("HttpOnly")] = "TRUE"
            case "domain":
                let hasDot = value.utf8.first == UInt8(ascii: ".")
                domain = Substring(value.utf8.dropFirst(hasDot ? 1 : 0)).lowercased()
            default: break
            }
        }
        if !domain.isEmpty {
            guard domain.utf8.count <= host.utf8.count, domain.isDomain(of: host) else { return nil }
            // A cookie of an address or a top-level domain is for this host alone (RFC 6265bis §5.7).
            properties[.domain] = domain == host && (host.isAddress || !host.contains(".")) ? host : "." + domain
        }
        properties[.expires] = age ?? properties[.expires]
        if path.utf8.first == UInt8(ascii: "/") { properties[.path] = path }
        // RFC 6265bis §4.1.3. Some servers ignore the case of a prefix.
        let prefix = (name.isEmpty ? value : name).lowercased().utf8
        let isMarked = properties[.secure] != nil && !name.isEmpty
        let isForWholeHost = isMarked && domain.isEmpty && path.hasBytes(of: "/")
        if !isMarked && prefix.starts(with: "__secure-".utf8) { return nil }
        if !isForWholeHost && prefix.starts(with: "__host-".utf8) { return nil }
        self.init(properties: properties)
    }
}

extension String {
    /// The `Set-Cookie` fields that Foundation has joined with a comma and a space.
    ///
    /// These separate two fields if a name and an equals sign follow, but not in a value in quotes. No more than
    /// `HTTPFields` can contain are separated.
    package var separateCookies: [String] {
        var cookies: [String] = []
        var start = startIndex
        var endOfQuotes = endOfQuotes(from: start)
        for comma in utf8.indices where utf8[comma] == UInt8(ascii: ",") && comma >= endOfQuotes {
            var scanner = FieldScanner(self[utf8.index(after: comma)...])
            guard scanner.skip(" "), scanner.token() != nil else { continue }
            scanner.skipSpace()
            guard scanner.isAt("="), cookies.count < 1 << 14 else { continue }
            cookies.append(String(self[start..<comma]))
            start = utf8.index(comma, offsetBy: 2)
            endOfQuotes = self.endOfQuotes(from: start)
        }
        return cookies + [String(self[start...])]
    }

    /// The end of a cookie's value in quotes; `start` if the value has no quotes.
    private func endOfQuotes(from start: Index) -> Index {
        guard let equals = utf8[start...].firstIndex(where: "=;,".utf8.contains),
            utf8[equals...].starts(with: "=\"".utf8)
        else { return start }
        let value = utf8[equals...].dropFirst(2)
        guard let end = value.firstIndex(where: "\";".utf8.contains), utf8[end] == UInt8(ascii: "\"")
        else { return start }
        var rest = FieldScanner(self[utf8.index(after: end)...])
        rest.skipSpace()
        return rest.isAtEnd || rest.isAt(";,") ? end : start
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
