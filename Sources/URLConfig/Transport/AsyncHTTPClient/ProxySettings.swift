#if AsyncHTTPClient

import AsyncHTTPClient

extension HTTPClient.Configuration.Proxy {
    private static let environment = ProcessInfo.processInfo.environment.filter {
        $0.key.lowercased().hasSuffix("_proxy") && !$0.value.isEmpty
    }

    /// The proxy for a URL; `nil` for none.
    ///
    /// - Parameters:
    ///   - configuration: The `connectionProxyDictionary` of a session's configuration, which has priority.
    ///   - environment: The environment of the process, with the variables that curl uses.
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest`` for a proxy that is malformed or not
    ///   supported, because the request must not go around it.
    init?(
        for url: URL, _ configuration: [AnyHashable: Any], environment: [String: String] = Self.environment
    ) throws(RequestError) {
        if configuration.isEmpty, environment.isEmpty { return nil }
        let host = url.host(percentEncoded: false)?.lowercased() ?? ""
        let isSecure = url.scheme?.lowercased() == "https"
        let exceptions = configuration["ExceptionsList"] as? [String] ?? []
        if let proxy = try Self.configured(configuration, isSecure ? "HTTPS" : "HTTP") {
            guard !exceptions.contains(where: { host.isWithin($0) }) else { return nil }
            self = proxy
            return
        }
        // The name HTTP_PROXY is not read: in a CGI process it is the `Proxy` field of a client's request.
        let names = (isSecure ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]) + ["all_proxy", "ALL_PROXY"]
        let direct = environment["no_proxy"] ?? environment["NO_PROXY"] ?? ""
        guard let name = names.first(where: { environment[$0]?.isEmpty == false }), let text = environment[name],
            !direct.split(separator: ",").contains(where: { host.isWithin($0) })
        else { return nil }
        try self.init(text, of: name)
    }

    private static func configured(_ settings: [AnyHashable: Any], _ kind: String) throws(RequestError) -> Self? {
        for kind in [kind, "SOCKS"] where (settings["\(kind)Enable"] as? NSNumber)?.boolValue == true {
            guard let host = settings["\(kind)Proxy"] as? String, !host.isEmpty,
                let port = (settings["\(kind)Port"] as? NSNumber)?.intValue, 1...65535 ~= port
            else { throw .proxy("connectionProxyDictionary", "needs \(kind)Proxy, a host, and \(kind)Port, a port") }
            if kind == "SOCKS" { return .socksServer(host: host, port: port) }
            let user = settings["kCFProxyUsernameKey"] as? String
            return .server(
                host: host, port: port,
                authorization: user.map {
                    .basic(username: $0, password: settings["kCFProxyPasswordKey"] as? String ?? "")
                })
        }
        return nil
    }

    /// - Parameters:
    ///   - text: Such as `http://user:password@proxy.example:3128`; the scheme and the port may be missing.
    ///   - name: The name of the variable.
    private init(_ text: String, of name: String) throws(RequestError) {
        guard let url = URL(string: text.contains("://") ? text : "http://\(text)"), let scheme = url.scheme,
            let host = url.host(percentEncoded: false), !host.isEmpty
        else { throw .proxy(name, "is not the URL of a proxy, such as http://proxy.example:3128") }
        // The brackets of an IPv6 address are not part of the address.
        let address = host.trimmingCharacters(in: ["[", "]"])
        switch scheme.lowercased() {
        case "http":
            let user = url.user(percentEncoded: false)
            self = .server(
                host: address, port: url.port ?? 1080,
                authorization: user.map {
                    .basic(username: $0, password: url.password(percentEncoded: false) ?? "")
                })
        case "socks5", "socks5h", "socks":
            guard url.user == nil else { throw .proxy(name, "has a user name, which SOCKS does not support here") }
            self = .socksServer(host: address, port: url.port ?? 1080)
        case let scheme: throw .proxy(name, "has the scheme \(scheme); use http or socks5")
        }
    }
}

extension RequestError {
    /// The text contains no value: the URL of a proxy may contain a password.
    fileprivate static func proxy(_ place: String, _ reason: String) -> Self {
        .refused(.invalidRequest, "proxy: \(place) \(reason)")
    }
}

extension String {
    /// Whether a host is the one of an entry in a list of exceptions, or belongs to its domain; `*` is every host.
    fileprivate func isWithin(_ entry: some StringProtocol) -> Bool {
        var entry = entry.trimmingCharacters(in: .whitespaces).lowercased()
        if entry == "*" { return true }
        if entry.hasPrefix("*.") { entry.removeFirst() }
        let domain = entry.hasPrefix(".") ? String(entry.dropFirst()) : entry
        return !domain.isEmpty && (self == domain || hasSuffix(".\(domain)"))
    }
}

#endif
