#if AsyncHTTPClient && Telemetry && os(Linux)

import Foundation
import HTTPTypes
import Hummingbird
import Logging

/// Stand-ins for the two upstream services. Both refuse requests for articles and authors without a request ID.
actor StandIns {
    struct Hosts {
        let articles: String
        let authors: String
        let standIns: StandIns
    }

    private static let lifetime = Duration.seconds(60)
    private(set) var issuedTokens = 0
    private(set) var refusals = 0
    private var expiry = ContinuousClock.now
    /// The requests that were told to come again.
    private var refused: Set<String> = []

    /// Serves both while `body` runs.
    static func run(_ body: (Hosts) async throws -> Void) async throws {
        let standIns = StandIns()
        // Their end is a cancellation, which their servers would log as an error.
        let logger = Logger(label: "stand-in") { _ in SwiftLogNoOpLogHandler() }
        try await Server(standIns.articles, logger: logger).run { articles in
            try await Server(standIns.authors, logger: logger).run { authors in
                try await body(Hosts(articles: articles, authors: authors, standIns: standIns))
            }
        }
    }

    /// The current token is refused from now on, before its time.
    func revokeToken() {
        expiry = .now
    }

    /// A hundred articles, of which every tenth is busy when it is requested for the first time.
    nonisolated private var articles: Router<BasicRequestContext> {
        let router = Router()
        router.post("token") { _, _ in await self.token() }
        router.get("articles/:id") { request, context in
            guard let id = request.headers[.requestID] else { throw HTTPError(.badRequest) }
            guard await self.accepts(request.headers[.authorization]) else { throw HTTPError(.unauthorized) }
            let number = try context.parameters.require("id", as: Int.self)
            guard 1...100 ~= number else { throw HTTPError(.notFound) }
            if number % 10 == 0, await self.isFirst(id) {
                throw HTTPError(.serviceUnavailable, headers: [.retryAfter: "1"])
            }
            return json(#"{"id": \#(number), "title": "All about \#(number)", "author": \#(number % 20)}"#)
        }
        return router
    }

    /// Twenty authors, of which one takes a minute, and some take a tenth of a second.
    nonisolated private var authors: Router<BasicRequestContext> {
        let router = Router()
        router.get("authors/:id") { request, context in
            guard request.headers[.requestID] != nil else { throw HTTPError(.badRequest) }
            let number = try context.parameters.require("id", as: Int.self)
            if number == 13 { try await Task.sleep(for: .seconds(60)) }
            if number % 5 == 0 { try await Task.sleep(for: .milliseconds(100)) }
            return json(#"{"name": "Author \#(number)"}"#)
        }
        return router
    }

    private func token() -> Response {
        issuedTokens += 1
        expiry = .now + Self.lifetime
        return json(#"{"token": "token-\#(issuedTokens)", "lifetime": \#(Self.lifetime / .seconds(1))}"#)
    }

    private func accepts(_ authorization: String?) -> Bool {
        let isCurrent = authorization == "Bearer token-\(issuedTokens)" && .now < expiry
        if !isCurrent { refusals += 1 }
        return isCurrent
    }

    /// Whether this is the first request with this ID, and not its retry.
    private func isFirst(_ id: String) -> Bool {
        refused.remove(id) == nil && refused.insert(id).inserted
    }
}

private func json(_ text: String) -> Response {
    Response(status: .ok, headers: [.contentType: "application/json"], body: .init(byteBuffer: .init(string: text)))
}

#endif
