#if AsyncHTTPClient

import URLConfig

/// A session with a proxy, and the server behind it.
struct Proxied: Sendable {
    let session: URLSession
    let proxy: FaultServer
    let origin: FaultServer

    /// The first lines of what the proxy was asked.
    var lines: [String] { proxy.requests.map { String($0.head.prefix { $0 != "\r\n" }) } }

    /// - Parameters:
    ///   - fault: The proxy, by default one that works.
    ///   - kinds: What the proxy is for: HTTP, HTTPS or SOCKS.
    static func serving(
        _ fault: FaultServer.Fault? = nil, kinds: [String] = ["HTTP"],
        origin: FaultServer.Fault = .ok("{}"), exceptions: [String] = [], silence: TimeInterval = 600,
        _ body: (Proxied) async throws -> Void
    ) async throws {
        try await FaultServer.serving(origin) { origin in
            let working =
                kinds == ["SOCKS"] ? FaultServer.Fault.socksProxy(to: origin.port) : .httpProxy(to: origin.port)
            try await FaultServer.serving(fault ?? working) { proxy in
                try await URLSession.with {
                    $0.timeoutIntervalForRequest = silence
                    $0.connectionProxyDictionary = settings(kinds, proxy.port)
                    $0.connectionProxyDictionary?["ExceptionsList"] = exceptions
                } _: { session in
                    try await body(Proxied(session: session, proxy: proxy, origin: origin))
                }
            }
        }
    }

    static func settings(_ kinds: [String], _ port: UInt16) -> [AnyHashable: Any] {
        var settings: [AnyHashable: Any] = [:]
        for kind in kinds {
            settings["\(kind)Enable"] = 1
            settings["\(kind)Proxy"] = "127.0.0.1"
            settings["\(kind)Port"] = Int(port)
        }
        return settings
    }

    @discardableResult
    func get(_ host: String, _ config: URLSession.Config = .server) async throws -> DataResponse {
        try await session.response(for: URLRequest.with(.init(host: host)) { _ in }, config: config)
    }
}

#endif
