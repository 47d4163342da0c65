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
            !exceptions.split(whereSeparator: { $0 == "," || $0.isWhitespace }).contains(where: { host.isWithin($0) })
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
            return kind == "SOCKS" ? .socksServer(host: host, port: port) : .server(host: host, port: port)
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
        let (user, password) = (url.user(percentEncoded: false), url.password(percentEncoded: false))
        guard (user == nil) == (url.user() == nil), (password == nil) == (url.password() == nil) else {
            throw .proxy(name, "has a user name or password that is not UTF-8 after decoding; correct its %")
        }
        // RFC 7617 §2
        guard user?.contains(":") != true else { throw .proxy(name, "has a user name with a colon; use another one") }
        switch scheme.lowercased() {
        case "http":
            self = .server(
                host: address, port: port,
                authorization: user.map { .basic(username: $0, password: password ?? "") })
        case "socks5", "socks5h", "socks":
            guard user == nil else { throw .proxy(name, "has a user name, which is not supported with SOCKS") }
            self = .socksServer(host: address, port: port)
        default: throw .proxy(name, "has a scheme that is not supported; use http or socks5")
        }
    }
}

extension RequestError {
    /// The text contains no value: the URL of a proxy may contain a password.
    fileprivate static func proxy(_ place: String, _ reason: String) -> Self {
        .refused("proxy: \(place) \(reason)")
    }
}

extension String {
    /// Whether a host matches an entry in a list of exceptions.
    ///
    /// - Parameter entry: A host, which includes its domain, an IP address, or `*` for every host.
    fileprivate func isWithin(_ entry: some StringProtocol) -> Bool {
        var entry = entry.lowercased().filter { !" []".contains($0) }
        if entry == "*" { return true }
        if entry.hasPrefix("*") { entry.removeFirst() }
        if entry.hasPrefix(".") { entry.removeFirst() }
        var host = filter { !"[]".contains($0) }
        // It says that the name is complete, and does not make it another one.
        if entry.hasSuffix(".") { entry.removeLast() }
        if host.hasSuffix(".") { host.removeLast() }
        return !entry.isEmpty && (host == entry || host.hasSuffix(".\(entry)"))
    }
}

#endif
