import FlyingFox
import Testing

@testable import URLConfig

/// The attempts in the error of a failed call.
@Suite(.serialized) struct RetryErrorTests {
    private func session() -> URLSession { URLSession(configuration: .ofTests) }

    /// Nothing listens at this address.
    private let refused = URLRequest.with(.init(host: "http://127.0.0.1:1")) { $0.query["token"] = "s3cret" }

    @Test func `a connection that is refused is tried again`() async throws {
        let session = session()
        defer { session.finishTasksAndInvalidate() }
        let error = await #expect(throws: URLError.self) {
            try await session.response(for: refused, config: .silent) {
                $0.retry = .atOnce()
            }
        }
        #expect(error?.code == .cannotConnectToHost)
        #expect(
            error?.attempts.map { ($0.error as? URLError)?.code } == Array(repeating: .cannotConnectToHost, count: 3))
        #expect(error?.attempts.map(\.reason) == ["waiting 0 ms", "waiting 0 ms", nil])
    }

    @Test func `without retries there is one attempt`() async throws {
        let session = session()
        defer { session.finishTasksAndInvalidate() }
        let error = await #expect(throws: URLError.self) {
            try await session.response(for: refused, config: .silent)
        }
        #expect(error?.attempts.count == 1)
        #expect(URLError(.badURL).attempts.isEmpty)
    }

    @Test func `no attempt shows a secret of the URL`() async throws {
        let session = session()
        defer { session.finishTasksAndInvalidate() }
        let error = try #require(
            await #expect(throws: URLError.self) {
                try await session.response(for: refused, config: .silent) {
                    $0.retry = .atOnce()
                }
            })
        var text = "\(error) \(String(reflecting: error)) \(error.attempts) \(String(reflecting: error.attempts))"
        dump(error.attempts, to: &text)
        for attempt in error.attempts { text += String(reflecting: attempt.error) }
        #expect(text.contains("waiting 0 ms"))
        #expect(!text.contains("s3cret"))
    }

    @Test func `an error names the attempts, one a line`() async throws {
        try await Loopback.serving { _ in
            .status(.serviceUnavailable)
        } _: { server in
            let error = try #require(
                await #expect(throws: RequestError.self) {
                    try await server.get("/x") {
                        $0.clock = TestClock()
                        $0.retry = .atOnce()
                        $0.validators = [.success]
                    }
                })
            #expect(error.attempts.map(\.status) == Array(repeating: .serviceUnavailable, count: 3))
            #expect(error.response?.attempts.count == 3)
            let lines = "\(error)".split(separator: "\n")
            #expect(lines.first?.hasPrefix("unacceptableStatus: GET \(server.host)/x answered 503: ") == true)
            #expect(
                lines.dropFirst() == [
                    "  1. 503 after 0 ms, waiting 0 ms", "  2. 503 after 0 ms, waiting 0 ms", "  3. 503 after 0 ms",
                ])
        }
    }

    @Test func `an error of another call keeps that call's attempts`() async throws {
        let session = session()
        defer { session.finishTasksAndInvalidate() }
        let refused = refused
        try await Loopback.serving { _ in
            .status(.notFound)
        } _: { server in
            let transport = await #expect(throws: URLError.self) {
                try await server.get {
                    $0.validators = [.success]
                    $0.fallback = { _, _ in
                        try await session.response(for: refused, config: .silent) {
                            $0.retry = .atOnce()
                        }
                    }
                }
            }
            #expect(transport?.attempts.count == 3)
            let status = await #expect(throws: RequestError.self) {
                try await session.response(for: refused, config: .silent) {
                    $0.retry = .atOnce()
                    $0.fallback = { _, _ in
                        try await server.get().validated()
                    }
                }
            }
            #expect(status?.attempts.map(\.status) == [.notFound])
            #expect(status?.response?.attempts.count == 1)
        }
    }
}
