import Testing

@testable import URLConfig

@Suite(.timeLimit(.minutes(10))) struct ResponseLimitTests {
    @Test(arguments: [0, 1, 1000, 100_000])
    func `a body that is longer ends at the limit, with what came until then`(limit: Int) async throws {
        try await FaultServer.serving(.endless) { server in
            let error = await #expect(throws: RequestError.self) {
                try await server.get {
                    $0.responseLimit = limit
                }
            }
            #expect(error?.code == .responseTooLarge)
            #expect(error?.response?.status == .ok)
            #expect(error?.response?.data.count == limit)
            #expect(error?.attempts.count == 1)
        }
    }

    @Test(arguments: [(2, true), (1, false), (nil, true), (.max, true), (-1, false)] as [(Int?, Bool)])
    func `a body of just that length is taken`(limit: Int?, isTaken: Bool) async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            let response = try? await server.get {
                $0.responseLimit = limit
            }
            #expect((response != nil) == isTaken)
        }
    }

    @Test func `what counts is the length when unpacked`() async throws {
        try await FaultServer.serving(.gzipBomb) { server in
            let error = await #expect(throws: RequestError.self) {
                try await server.get {
                    $0.responseLimit = 1_000_000
                }
            }
            #expect(error?.code == .responseTooLarge)
            #expect(error?.response?.data.count == 1_000_000)
        }
    }

    #if os(Linux)
    /// In a separate process, so that its peak memory is that of this call.
    @Test func `memory ends at the limit too`() async {
        await #expect(processExitsWith: .success) {
            for fault in [FaultServer.Fault.endless, .gzipBomb] {
                try await FaultServer.serving(fault) { server in
                    let before = try Memory.peak()
                    let response = try? await server.get {
                        $0.responseLimit = 1_000_000
                    }
                    #expect(response == nil)
                    // About 8 MB here; the whole body is 200 MB or endless. NIO unpacks all that it reads at once.
                    let most = TransportOfTests.isAsyncHTTPClient ? 96_000_000 : 32_000_000
                    #expect(try Memory.peak() - before < most)
                }
            }
        }
    }
    #endif

    @Test func `an announced length is not believed`() async throws {
        try await FaultServer.serving(.raw("HTTP/1.1 200 OK\r\nContent-Length: 9000000000000000000\r\n\r\n{}")) {
            server in
            let error = await #expect(throws: URLError.self) {
                try await server.get()
            }
            #expect(error?.code == .networkConnectionLost)
        }
    }
}
