#if AsyncHTTPClient

import AsyncHTTPClient

/// A client for all sessions with the same settings; or the caller's client.
///
/// The library's client is shut down when it is not among the last used ones any more, and its last request has ended.
final class SharedClient: Sendable {
    private struct Clients {
        var clients: [Settings: (client: SharedClient, lastUse: Int)] = [:]
        var uses = 0
    }

    /// A service that has a proxy or a time limit for each of its users would otherwise fill its memory.
    private static let most = 64
    private static let clients = Locked(Clients())

    let client: HTTPClient
    private let isOwn: Bool

    /// - Parameter client: The caller's client, which is never shut down.
    init(_ client: HTTPClient) {
        self.client = client
        isOwn = false
    }

    private init(_ settings: Settings) {
        client = HTTPClient(configuration: settings.clientConfiguration)
        isOwn = true
    }

    deinit {
        if isOwn { client.shutdown { _ in } }
    }

    /// The library's client with these settings.
    static func with(_ settings: Settings) -> SharedClient {
        // The other result is released when the lock is free.
        let (client, _) = clients.withLock { all in
            all.uses += 1
            if let client = all.clients[settings]?.client {
                all.clients[settings]?.lastUse = all.uses
                return (client, nil as SharedClient?)
            }
            let oldest = all.clients.count < most ? nil : all.clients.min { $0.value.lastUse < $1.value.lastUse }
            if let oldest { all.clients[oldest.key] = nil }
            let client = SharedClient(settings)
            all.clients[settings] = (client, all.uses)
            return (client, oldest?.value.client)
        }
        return client
    }
}

#endif
