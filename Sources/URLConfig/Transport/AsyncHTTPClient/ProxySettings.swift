#if AsyncHTTPClient

import AsyncHTTPClient

extension HTTPClient.Configuration.Proxy {
    private static let environment = ProcessInfo.processInfo.environment.filter {
        $0.key.lowercased().hasSuffix("_proxy") && !$0.value.isEmpty
    }

    /// The proxy for a URL; `nil` for none.
    ///
    /// - Parameters:
    ///   - settings: The `connectionProxyDictionary` of a session's configuration; `nil` to use the environment.
    ///   - environment: The environment of the process, with the variables that curl uses.
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest`` for a proxy that is malformed or not
    ///   supported, because the request must not go around it.
    init?(
        for url: URL, _ settings: [AnyHashable: Any]?, environment: [String: String] = Self.environment
    ) throws(RequestError) {
        if settings?.isEmpty ?? environment.isEmpty { return nil }
        let host = url.host(percentEncoded: false)?.lowercased() ?? ""
        let isSecure = url.scheme?.lowercased() == "https"
        if let settings {
            let exceptions = settings["ExceptionsList"] as? [String] ?? []
            guard !exceptions.contains(where: { host.isWithin($0) }),
                let proxy = try Self.configured(settings, isSecure ? "HTTPS" : "HTTP")
            else { return nil }
            self = proxy
            return
        }
        // The name HTTP_PROXY is not read: in a CGI process it is the `Proxy` field of a client's request.
        let names = (isSecure ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]) + ["all_proxy", "ALL_PROXY"]
        let exceptions = environment["no_proxy"] ?? environment["NO_PROXY"] ?? ""
        guard let name = names.first(where: { environment[$0]?.isEmpty == false }), let text = environment[name],
            !exceptions.split(separator: ",").contains(where: { host.isWithin($0) })
        else { return nil }
        try self.init(text, of: name)
    }

    private static func configured(_ settings: [AnyHashable: Any], _ kind: String) throws(RequestError) -> Self? {
        func isOn(_ key: String) -> Bool { (settings[key] as? NSNumber)?.boolValue == true }
        guard !isOn("ProxyAutoConfigEnable") else {
            throw .proxy("connectionProxyDictionary", "has ProxyAutoConfigEnable, which is not supported")
        }
        for kind in [kind, "SOCKS"] where isOn("\(kind)Enable") {
            guard let host = settings["\(kind)Proxy"] as? String, !host.isEmpty,
                let port = (settings["\(kind)Port"] as? NSNumber)?.intValue, 1...65535 ~= port
            else { throw .proxy("connectionProxyDictionary", "needs \(kind)Proxy, a host, and \(kind)Port, a port") }
            let user = settings["kCFProxyUsernameKey"] as? String
            guard kind == "SOCKS" else { return .http(host, port, user, settings["kCFProxyPasswordKey"] as? String) }
            guard user == nil else { throw .socksUser("connectionProxyDictionary") }
            return .socksServer(host: host, port: port)
        }
        return nil
    }

    /// - Parameters:
    ///   - text: Such as `http://user:password@proxy.example:3128`; the scheme and the port may be missing.
    ///   - name: The name of the variable.
    private init(_ text: String, of name: String) throws(RequestError) {
        let text = text.contains("://") ? text : "http://\(text)"
        // An unescaped "#" in a password would end the host.
        guard let url = URL(string: text), let scheme = url.scheme, let host = url.host(percentEncoded: false),
            !host.isEmpty, 1...65535 ~= url.port ?? 1080, ["", "/"].contains(url.path()),
            url.query() == nil, url.fragment() == nil
        else { throw .proxy(name, "is not the URL of a proxy, such as http://proxy.example:3128") }
        // The brackets of an IPv6 address are not part of the address.
        let address = host.trimmingCharacters(in: ["[", "]"])
        let port = url.port ?? 1080
        let user = url.user(percentEncoded: false)
        switch scheme.lowercased() {
        case "http": self = .http(address, port, user, url.password(percentEncoded: false))
        case "socks5", "socks5h", "socks":
            guard user == nil else { throw .socksUser(name) }
            self = .socksServer(host: address, port: port)
        default: throw .proxy(name, "has a scheme that is not supported; use http or socks5")
        }
    }

    private static func http(_ host: String, _ port: Int, _ user: String?, _ password: String?) -> Self {
        .server(
            host: host, port: port,
            authorization: user.map { .basic(username: $0, password: password ?? "") })
    }
}

extension RequestError {
    fileprivate static func socksUser(_ place: String) -> Self {
        proxy(place, "has a user name, which is not supported with SOCKS")
    }

    /// The text contains no value: the URL of a proxy may contain a password.
    fileprivate static func proxy(_ place: String, _ reason: String) -> Self {
        .refused(.invalidRequest, "proxy: \(place) \(reason)")
    }
}

extension String {
    /// Whether a host matches an entry in a list of exceptions.
    ///
    /// - Parameter entry: A host, which includes its domain, an IP address, a range of them such as `10.0.0.0/8`, or
    ///   `*` for every host.
    fileprivate func isWithin(_ entry: some StringProtocol) -> Bool {
        var entry = entry.lowercased().filter { !" []".contains($0) }
        if entry == "*" { return true }
        let host = filter { !"[]".contains($0) }
        if let address = host.addressBytes { return address.isWithin(range: entry) }
        if entry.hasPrefix("*.") { entry.removeFirst() }
        let domain = entry.hasPrefix(".") ? String(entry.dropFirst()) : entry
        return !domain.isEmpty && (host == domain || host.hasSuffix(".\(domain)"))
    }

    /// The bytes of an IP address; `nil` for a name.
    fileprivate var addressBytes: [UInt8]? {
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: count)
            if inet_pton(family, self, &bytes) == 1 { return bytes }
        }
        return nil
    }
}

extension [UInt8] {
    /// Whether an IP address is this one or in this range.
    fileprivate func isWithin(range: String) -> Bool {
        let parts = range.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let length = parts.count == 2 ? Int(parts[1]) : 8 * count
        guard let network = parts.first?.addressBytes, network.count == count, let length, length >= 0 else {
            return false
        }
        return indices.allSatisfy { index in
            // A shift by eight bits or more leaves nothing.
            let ignored = Swift.max(0, 8 * (index + 1) - length)
            return self[index] >> ignored == network[index] >> ignored
        }
    }
}

#endif
