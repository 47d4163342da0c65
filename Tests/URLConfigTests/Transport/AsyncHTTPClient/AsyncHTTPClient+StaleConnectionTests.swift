#if AsyncHTTPClient

import Testing

@testable import URLConfig

/// Several kept connections that the server closes when they are used again.
@Suite(.inTime) struct AsyncHTTPClientStaleConnectionTests {
    private typealias Fault = FaultServer.Fault

    /// As many as a session keeps for a host by default.
    private static let kept = 6

    /// The first connections respond once, when all of them have a request, and lose the second request.
    private static func stale(_ end: Fault.End) -> Fault {
        let requests = Locked(0)
        return Fault { connection in
            try connection.read()
            guard connection.index < kept else {
                try connection.send(Fault.answer("{}"))
                return try Fault.ok("{}").run(connection)
            }
            requests.withLock { $0 += 1 }
            while requests.withLock({ $0 < kept }) { try connection.pause(.milliseconds(1)) }
            try connection.send(Fault.answer("{}"))
            try connection.read()
            try connection.end(end)
        }
    }

    private func serving(_ end: Fault.End, _ body: (FaultServer) async throws -> Void) async throws {
        try await FaultServer.serving(Self.stale(end)) { server in
            try await concurrently(Self.kept) { _ in _ = try await server.get("/first", config: .server) }
            #expect(server.connections == Self.kept)
            try await body(server)
        }
    }

    @Test(arguments: [FaultServer.Fault.End.close, .reset], ["GET", "PUT"])
    func `an idempotent request is sent until a connection is new`(
        end: FaultServer.Fault.End, method: String
    ) async throws {
        try await serving(end) { server in
            let request = server.request("/next") {
                $0.method = .init(rawValue: method) ?? .get
                if method == "PUT" { $0.body = .text("text") }
            }
            let response = try await server.response(for: request, config: .server)
            let outcomes = response.attempts.map { ($0.error as? URLError)?.code }
            #expect(outcomes == Array(repeating: .networkConnectionLost, count: Self.kept) + [nil])
            #expect(response.attempts.dropLast().allSatisfy { $0.reason == "again on another connection" })
            let sent = server.requests.filter { $0.head.hasPrefix("\(method) /next ") }
            #expect(sent.count == Self.kept + 1)
            #expect(Set(sent.map(\.bodyText)) == [method == "PUT" ? "text" : ""])
            #expect(server.connections == Self.kept + 1)
        }
    }

    @Test func `a request that is not idempotent is sent once`() async throws {
        try await serving(.close) { server in
            for index in 0..<Self.kept {
                let request = server.request("/\(index)") { $0.method = .post }
                let error = await expectError(.networkConnectionLost) {
                    try await server.response(for: request, config: .server)
                }
                #expect(error?.attempts.count == 1)
                #expect(server.requests.count { $0.head.hasPrefix("POST /\(index) ") } == 1)
            }
        }
    }

    @Test func `the loss of a new connection is final`() async throws {
        try await FaultServer.serving(.empty) { server in
            let error = await expectError(.networkConnectionLost) { try await server.get(config: .server) }
            #expect(error?.attempts.count == 1)
            #expect(server.requests.count == 1)
        }
    }
}

#endif
