#if AsyncHTTPClient

import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import NIOPosix
import Testing

@testable import URLConfig

/// Who shuts a client down, and what happens then.
@Suite(.inTime) struct AsyncHTTPClientLifetimeTests {
    @Test func `a client of one's own is used, and its owner shuts it down`() async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            let config = try await HTTPClient.lending { client in
                let config = URLSession.Config.onServer(client)
                for _ in 0..<10 { try await server.get(config: config) }
                return config
            }
            #expect(server.connections == 1)
            let error = await expectError(.invalidRequest) { try await server.get(config: config) }
            #expect(error?.reason == "the HTTPClient has been shut down; use a running one")
            #expect(error?.underlyingError as? HTTPClientError == .alreadyShutdown)
            #expect(server.requests.count == 10)
        }
    }

    @Test func `a client with event loops of its own sends, and after its shutdown a call is an error`() async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
            let config = try await HTTPClient.lending(on: group) { client in
                let config = URLSession.Config.onServer(client)
                try await server.get(config: config)
                return config
            }
            let error = await #expect(throws: RequestError.self) {
                try await server.get(config: config) { $0.deadline = .seconds(300) }
            }
            #expect(error?.underlyingError as? HTTPClientError == .alreadyShutdown)
            // SwiftNIO ends a debug build when a call is made after this.
            try await group.shutdownGracefully()
        }
    }

    @Test(arguments: [FaultServer.Fault.hangBeforeHead, .hangInBody])
    func `calls under way when a client is shut down end with an error`(fault: FaultServer.Fault) async throws {
        try await FaultServer.serving(fault) { server in
            let calls = try await HTTPClient.lending { client in
                let calls = (0..<20).map { _ in
                    Task { try await server.get(config: .onServer(client)) }
                }
                // The others wait for a connection.
                try await waitUntil { server.requests.count >= 4 }
                return calls
            }
            for call in calls {
                let error = await #expect(throws: (any Error).self) { try await call.valueInTime }
                // None of the tasks was cancelled.
                #expect(!(error is CancellationError))
            }
        }
    }

    @Test(arguments: [true, false])
    func `a client that was made without urlConfig is refused before anything is sent`(isShared: Bool) async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            try await HTTPClient.lending {
                $0 = HTTPClient.Configuration()
            } _: { client in
                let error = await expectError(.invalidRequest) {
                    try await server.get(config: .onServer(isShared ? .shared : client))
                }
                #expect(error?.reason.contains("redirects itself") == true)
                #expect(error?.reason.contains(isShared ? ".asyncHTTPClient" : "configuration: .urlConfig") == true)
                #expect(server.connections == 0)
            }
        }
    }

    @Test func `redirects and decompression of a client's configuration do not matter`() async throws {
        try await Origins.serving { origins in
            try await HTTPClient.lending {
                $0.redirectConfiguration = .follow(max: 5, allowCycles: false)
                $0.decompression = .enabled(limit: .none)
            } _: { client in
                let request = origins.a.request(to: origins.b.host)
                let response = try await origins.a.response(for: request, config: .onServer(client)) {
                    $0.redirects = .none
                }
                #expect(300...399 ~= response.status.code)
                #expect(origins.seen.map(\.origin) == ["a"])
            }
        }
    }

    @Test func `each request has the event loop with the fewest others`() async throws {
        try await HTTPClient.lending { client in
            let shared = SharedClient(client)
            let count = Array(client.eventLoopGroup.makeIterator()).count
            let first = try #require(shared.enter())
            shared.leave(first)
            #expect(shared.enter() == first, "one after the other")
            let others = (1..<count).compactMap { _ in shared.enter() }
            #expect(Set(others + [first]).count == count, "at the same time")
            let last = others.last ?? first
            shared.leave(last)
            #expect(shared.enter() == last)
        }
    }

    @Test(arguments: [FaultServer.Fault.ok("{}"), .truncated, .hangInBody, .hangBeforeHead, .empty], [true, false])
    func `whatever happens to a request, its event loop is free again`(
        fault: FaultServer.Fault, isWhole: Bool
    ) async throws {
        try await FaultServer.serving(fault) { server in
            try await HTTPClient.lending { client in
                let shared = SharedClient(client)
                let first = try #require(shared.enter())
                shared.leave(first)
                let call = Task {
                    let body = ReceivedBody()
                    let reader = ReceivedBody.Reader(body)
                    let place = shared.enter()
                    let delivery = Delivery(of: nil, to: body, isWhole: isWhole, by: shared, at: place)
                    let headers = [Delivery.field: "\(delivery.number)"]
                    _ = try await shared.send(server.request(), .init(headers.map { ($0, $1) }), nil, delivery)
                    while try await reader.next() != nil {}
                }
                // Some end by themselves before this, some after it.
                try await Task.sleep(for: .milliseconds(50))
                call.cancel()
                _ = await call.result
                try await waitUntil {
                    guard let place = shared.enter() else { return false }
                    shared.leave(place)
                    return place == first
                }
            }
        }
    }

    @Test func `sessions with the same settings share connections`() async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            for _ in 0..<3 {
                let session = URLSession(configuration: .ofTests)
                try await session.response(for: server.request(), config: .server)
                session.finishTasksAndInvalidate()
            }
            #expect(server.connections == 1)
        }
    }

    @Test func `no more connections are open than the configuration says`() async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            try await URLSession.with {
                $0.httpMaximumConnectionsPerHost = 2
            } _: { session in
                try await concurrently(100) { _ in try await session.response(for: server.request(), config: .server) }
            }
            #expect(1...2 ~= server.connections)
        }
    }
}

#endif
