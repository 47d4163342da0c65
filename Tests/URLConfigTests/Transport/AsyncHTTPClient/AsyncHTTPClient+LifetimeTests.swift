#if AsyncHTTPClient

import AsyncHTTPClient
import NIOCore
import NIOPosix
import Testing

@testable import URLConfig

/// Who shuts a client down, and what happens then.
@Suite(.timeLimit(.minutes(10))) struct AsyncHTTPClientLifetimeTests {
    @Test func `a client of one's own is used, and its owner shuts it down`() async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            let config = try await HTTPClient.lending { client in
                let config = URLSession.Config.onServer(client)
                for _ in 0..<10 { try await server.get(config: config) }
                return config
            }
            #expect(server.connections == 1)
            let error = await #expect(throws: RequestError.self) { try await server.get(config: config) }
            #expect(error?.code == .invalidRequest)
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
                let error = await #expect(throws: (any Error).self) { try await call.value }
                // None of the tasks was cancelled.
                #expect(!(error is CancellationError))
            }
        }
    }

    @Test func `a client that follows redirects itself is refused before anything is sent`() async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            try await HTTPClient.lending {
                $0 = HTTPClient.Configuration()
            } _: { client in
                let error = await #expect(throws: RequestError.self) { try await server.get(config: .onServer(client)) }
                #expect(error?.code == .invalidRequest)
                #expect(error?.reason.contains("HTTPClient(configuration: .urlConfig)") == true)
                #expect(server.connections == 0)
            }
        }
    }

    @Test func `the shared client works, and does not follow redirects itself`() async throws {
        try await FaultServer.serving(.redirect(to: "/next")) { server in
            let response = try await server.get(config: .onServer(.shared)) { $0.redirects = .none }
            #expect(response.status == .found)
            #expect(server.requests.count == 1)
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
            let configuration = URLSessionConfiguration.ofTests
            configuration.httpMaximumConnectionsPerHost = 2
            let session = URLSession(configuration: configuration)
            defer { session.finishTasksAndInvalidate() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<100 {
                    group.addTask { try await session.response(for: server.request(), config: .server) }
                }
                try await group.waitForAll()
            }
            #expect(1...2 ~= server.connections)
        }
    }
}

#endif
