import Testing
import URLConfigTesting

@testable import URLConfig

@Suite(.inTime) struct ResponseLimitTests {
    @Test(arguments: [0, 1, 1000, 100_000])
    func `a longer body ends at the limit, and the error has the bytes until then`(limit: Int) async throws {
        try await FaultServer.serving(.endless) { server in
            let error = await expectError(.responseTooLarge) { try await server.get { $0.responseLimit = limit } }
            #expect(error?.response?.status == .ok)
            #expect(error?.response?.data.count == limit)
            #expect(error?.attempts.count == 1)
        }
    }

    @Test(arguments: [(2, true), (1, false), (nil, true), (.max, true), (-1, false)] as [(Int?, Bool)])
    func `a body of just that length is accepted`(limit: Int?, isAccepted: Bool) async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            let response = try? await server.get { $0.responseLimit = limit }
            #expect((response != nil) == isAccepted)
        }
    }

    #if os(Linux) || os(macOS)
    @Test func `the limit is for the decompressed body`() async throws {
        try await FaultServer.serving(.gzipBomb) { server in
            let error = await expectError(.responseTooLarge) { try await server.get { $0.responseLimit = 1_000_000 } }
            #expect(error?.response?.data.count == 1_000_000)
        }
    }
    #endif

    #if os(Linux)
    /// In a separate process, so that only this call counts for its peak memory.
    @Test func `the memory is also limited`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            for fault in [FaultServer.Fault.endless, .gzipBomb] {
                try await FaultServer.serving(fault) { server in
                    let before = try Memory.peak()
                    await expectError(.responseTooLarge) { try await server.get { $0.responseLimit = 1_000_000 } }
                    // About 8 MB here; the whole body is 200 MB or endless. NIO unpacks all that it reads at once.
                    let most = TransportOfTests.isAsyncHTTPClient ? 96_000_000 : 32_000_000
                    #expect(try Memory.peak() - before < most)
                }
            }
        }
    }
    #endif

    @Test func `the status of a failure counts, however long its body is`() async throws {
        let clock = TestClock.immediate
        let (seen, events) = (Recorder<String?>(), Recorder<CallEvent>())
        func get(_ change: (inout URLSession.Config) -> Void) async throws -> DataResponse {
            try await stubs.get {
                ($0.responseLimit, $0.clock, $0.retry) = (50, clock, .standard)
                $0.events = { events.note($0) }
                $0.transport = Transport { request in
                    let count = seen.note(request.urlRequest.field("Authorization"))
                    if request.urlRequest.url?.path() == "/end" { return .init(body: .init(Data("end".utf8))) }
                    return switch count {
                    case 1: .init(status: .unauthorized, body: .init(Data(count: 100)))
                    case 2: .init(status: .serviceUnavailable, body: .init(Data(count: 100)))
                    case 3: .init(status: .found, headerFields: [.location: "/end"], body: .init(Data(count: 100)))
                    default: .init(status: .notFound, body: .init(Data(count: 100)))
                    }
                }
                change(&$0)
            }
        }
        let authenticator = TokenAuthenticator("old") { _ in "new" }
        let response = try await get { $0.authenticator = authenticator }
        #expect(try response.text() == "end")
        #expect(response.attempts.map(\.status?.code) == [401, 503, 302, 200])
        #expect(seen.entries == ["Bearer old", "Bearer new", "Bearer new", "Bearer new"])
        try await waitUntil { if case .ended? = events.entries.last?.kind { true } else { false } }
        let counts = events.entries.compactMap { if case .bodyReceived(let count) = $0.kind { count } else { nil } }
        #expect(counts == [3], "only a whole body is told of")
        let error = await expectError(.responseTooLarge) { try await get { _ in } }
        #expect(error?.response?.status == .notFound && error?.response?.data.count == 50)
    }

    @Test func `an announced length is not believed`() async throws {
        try await FaultServer.serving(.length("9000000000000000000")) { server in
            await expectError(.networkConnectionLost) { try await server.get() }
        }
    }
}
