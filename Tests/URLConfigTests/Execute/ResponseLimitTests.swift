import Testing

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

    @Test func `an announced length is not believed`() async throws {
        try await FaultServer.serving(.length("9000000000000000000")) { server in
            await expectError(.networkConnectionLost) { try await server.get() }
        }
    }
}
