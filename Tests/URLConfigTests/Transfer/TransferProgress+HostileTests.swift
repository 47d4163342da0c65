import Testing

@testable import URLConfig

/// Which bytes count.
@Suite(.timeLimit(.minutes(10))) struct TransferProgressHostileTests {
    /// The last report.
    private func last(
        _ fault: FaultServer.Fault, _ configure: (inout URLSession.Config) -> Void = { _ in }
    ) async throws -> TransferProgress? {
        let reports = Locked<[TransferProgress]>([])
        try await FaultServer.serving(fault) { server in
            try await server.get {
                $0.progress = { report in reports.withLock { $0.append(report) } }
                configure(&$0)
            }
        }
        return reports.withLock { $0.last }
    }

    @Test func `those of a redirect do not`() async throws {
        let body = String(repeating: "x", count: 500)
        let redirect = FaultServer.Fault.raw(
            "HTTP/1.1 302 Found\r\nLocation: /x\r\nConnection: close\r\nContent-Length: 500\r\n\r\n" + body)
        let last = try await last(.first(1, redirect, then: .ok("ok")))
        #expect(last?.bytesReceived == 2)
        #expect(last?.totalBytesToReceive == 2)
    }

    @Test func `those of a transport that passes the request on do, once`() async throws {
        let inner = TransportOfTests.transport
        let last = try await last(.ok(String(repeating: "x", count: 1000))) {
            $0.transport = Transport { try await inner.send($0) }
        }
        #expect(last?.bytesReceived == 1000)
        #expect(last?.totalBytesToReceive == 1000)
    }
}
