import Testing

@testable import URLConfig

/// The progress of calls, in both directions.
@Suite(.inTime) struct TransferProgressTests {
    private let content = Data(count: 5_000_000)

    /// Whether no report shows less than the one before it.
    private func isMonotonic(_ reports: [TransferProgress]) -> Bool {
        zip(reports, reports.dropFirst()).allSatisfy {
            $0.bytesSent <= $1.bytesSent && $0.bytesReceived <= $1.bytesReceived
        }
    }

    /// On Linux, a `POST` has a session of its own.
    @Test(arguments: [("PUT", false), ("POST", false), ("PUT", true)])
    func `an upload reports its length at once, and all bytes at the end, and a repeated attempt does not go back`(
        method: String, isRepeated: Bool
    ) async throws {
        let reports = Recorder<TransferProgress>()
        let busy = FaultServer.Fault.raw("HTTP/1.1 503 Busy\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        try await FaultServer.serving(.first(isRepeated ? 1 : 0, busy, then: .ok("1234"))) { server in
            let request = server.request { $0.method = .init(method) ?? .get }
            try await server.session.upload(.data(content), for: request, config: .silent) {
                $0.retry = RetryPolicy(attempts: 2).quick
                $0.progress = { reports.note($0) }
            }
        }
        let all = reports.entries
        #expect(isMonotonic(all))
        #expect(all.allSatisfy { $0.totalBytesToSend == 5_000_000 })
        #expect(all.last?.bytesSent == 5_000_000)
        #expect(all.last?.fractionCompleted == 1)
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.fractionCompleted ?? 0 <= $1.fractionCompleted ?? 0 })
        #expect(all.last?.bytesReceived == 4)
        #expect(all.last?.totalBytesToReceive == 4)
    }

    @Test(arguments: [false, true]) func `a response reports the received bytes`(isStream: Bool) async throws {
        let reports = Recorder<TransferProgress>()
        let text = String(repeating: "x", count: 2_000_000)
        try await FaultServer.serving(.ok(text)) { server in
            let configure: (inout URLSession.Config) -> Void = { $0.progress = { reports.note($0) } }
            if isStream {
                for try await _ in try await server.stream(nil, configure).chunks {}
            } else {
                try await server.get(nil, configure)
            }
        }
        let all = reports.entries
        #expect(isMonotonic(all))
        #expect(all.last?.bytesReceived == 2_000_000)
        #expect(all.last?.totalBytesToReceive == 2_000_000)
        #expect(all.last?.totalBytesToSend == nil)
    }

    @Test func `a closure that blocks gets fewer reports, and does not delay the transfer`() async throws {
        let goOn = DispatchSemaphore(value: 0)
        let reports = Recorder<TransferProgress>()
        let meter = ProgressMeter { report in
            reports.note(report)
            goOn.wait()
        }
        meter.expect(1000)
        try await waitUntil { reports.entries.count == 1 }
        for _ in 0..<1000 { meter.received(1) }
        for _ in 0..<2 { goOn.signal() }
        try await meter.finish()
        #expect(reports.entries.map(\.bytesReceived) == [0, 1000])
    }

    @Test func `it never exceeds its total, whatever a later attempt is`() async throws {
        let reports = Recorder<TransferProgress>()
        let meter = ProgressMeter { reports.note($0) }
        func last() async throws -> [Int64?] {
            try await meter.finish()
            let last = try #require(reports.entries.last)
            return [last.bytesSent, last.totalBytesToSend, last.bytesReceived, last.totalBytesToReceive]
        }
        meter.sent(800, of: 1000)
        meter.sent(100, of: 400)
        #expect(try await last() == [100, 400, 0, nil])
        meter.sent(500, of: 400)
        #expect(try await last() == [500, nil, 0, nil])
        meter.expect(1000)
        meter.received(800)
        meter.begin()
        meter.expect(500)
        #expect(try await last() == [500, nil, 0, 500])
        meter.received(300)
        #expect(try await last() == [500, nil, 300, 500])
        meter.received(201)
        #expect(try await last() == [500, nil, 501, nil])
        #expect(reports.entries.allSatisfy { $0.isWithinTotals })
    }

    @Test func `a new version that is shorter begins again`() async throws {
        let reports = Recorder<TransferProgress>()
        let folder = DownloadFolder()
        let version = FileServer.Version(2, size: 200_000)
        let server = FileServer { number, _ in
            number == 0
                ? .init(version: .init(1, size: 1_000_000), cut: .init(count: 800_000)) : .init(version: version)
        }
        try await server.serving { server in
            try await server.download(to: folder, attempts: 2) { $0.progress = { reports.note($0) } }
            #expect(folder.has(version.content))
        }
        let all = reports.entries
        #expect(all.allSatisfy { $0.isWithinTotals })
        #expect(all.last?.bytesReceived == 200_000)
        #expect(all.last?.totalBytesToReceive == 200_000)
    }

    @Test(arguments: ["HEAD", "204 None", "304 Same"])
    func `a stream without a body has no total`(kind: String) async throws {
        let reports = Recorder<TransferProgress>()
        let status = kind == "HEAD" ? "200 OK" : kind
        let head = "HTTP/1.1 \(status)\r\nContent-Length: 1000\r\nConnection: close\r\n\r\n"
        try await FaultServer.serving(.raw(head)) { server in
            let request = server.request { if kind == "HEAD" { $0.method = .head } }
            let response = try await server.session.stream(for: request, config: .silent) {
                $0.progress = { reports.note($0) }
            }
            for try await _ in response.chunks {}
        }
        #expect(reports.entries.allSatisfy { $0.totalBytesToReceive == nil })
    }

    /// The last report.
    private func last(
        _ fault: FaultServer.Fault, _ configure: (inout URLSession.Config) -> Void = { _ in }
    ) async throws -> TransferProgress? {
        let reports = Recorder<TransferProgress>()
        try await FaultServer.serving(fault) { server in
            try await server.get {
                $0.progress = { reports.note($0) }
                configure(&$0)
            }
        }
        return reports.entries.last
    }

    @Test func `the bytes of a redirect do not count`() async throws {
        let body = String(repeating: "x", count: 500)
        let redirect = FaultServer.Fault.raw(
            "HTTP/1.1 302 Found\r\nLocation: /x\r\nConnection: close\r\nContent-Length: 500\r\n\r\n" + body)
        let last = try await last(.first(1, redirect, then: .ok("ok")))
        #expect(last?.bytesReceived == 2)
        #expect(last?.totalBytesToReceive == 2)
    }

    /// What a transport that does not report has read, and nothing more if it passes on one that reports.
    @Test(arguments: [false, true]) func `an upload that a response ends early is not complete`(reports: Bool)
        async throws
    {
        let meter = Recorder<TransferProgress>()
        let progress = ProgressMeter { meter.note($0) }
        progress.beginUpload(of: 100)
        progress.begin()
        if reports { progress.sent(10, of: 100) }
        progress.endSending()
        try await progress.finish()
        #expect(meter.entries.last?.bytesSent == (reports ? 10 : 100))
    }

    @Test func `the bytes of a transport that passes the request on count once`() async throws {
        let inner = TransportOfTests.transport
        let last = try await last(.ok(String(repeating: "x", count: 1000))) {
            $0.transport = Transport { try await inner.send($0) }
        }
        #expect(last?.bytesReceived == 1000)
        #expect(last?.totalBytesToReceive == 1000)
    }

    @Test func `a transport that reports nothing has sent the body when its response arrives`() async throws {
        let reports = Recorder<TransferProgress>()
        let request = URLRequest.with(.init(host: "https://example.com")) {
            $0.method = .post
            $0.body = .text("12345")
        }
        try await URLSession.shared.response(for: request, config: .silent) {
            $0.transport = Transport { _ in .init(body: .init(Data("123".utf8))) }
            $0.progress = { reports.note($0) }
        }
        #expect(reports.entries.last?.bytesSent == 5)
        #expect(reports.entries.last?.totalBytesToSend == 5)
        #expect(reports.entries.last?.bytesReceived == 3)
        #expect(reports.entries.last?.isUpload == false)
    }

    @Test func `Foundation's progress never exceeds its total, even between two changes`() {
        final class Watched: Progress, @unchecked Sendable {
            var largest = 0.0
            override var totalUnitCount: Int64 { didSet { largest = max(largest, fractionCompleted) } }
            override var completedUnitCount: Int64 { didSet { largest = max(largest, fractionCompleted) } }
        }
        let progress = Watched(parent: nil)
        var transfer = TransferProgress()
        (transfer.bytesSent, transfer.totalBytesToSend) = (200, 200)
        transfer.update(progress)
        (transfer.bytesReceived, transfer.totalBytesToReceive) = (5, 10)
        transfer.update(progress)
        (transfer.bytesReceived, transfer.totalBytesToReceive) = (80, 100)
        transfer.update(progress)
        #expect(progress.fractionCompleted == 0.8)
        #expect(progress.largest == 1)
    }

    @Test func `it shows the direction that is under way, and for an upload only the sent bytes`() {
        let progress = Progress(totalUnitCount: -1)
        var transfer = TransferProgress()
        func check(_ fraction: Double?, _ change: (inout TransferProgress) -> Void) {
            change(&transfer)
            transfer.update(progress)
            #expect(transfer.fractionCompleted == fraction)
            #expect(fraction.map { progress.fractionCompleted == $0 } ?? progress.isIndeterminate)
        }
        check(nil) { $0.bytesSent = 50 }
        check(0.25) { $0.totalBytesToSend = 200 }
        check(0.5) { ($0.bytesReceived, $0.totalBytesToReceive) = (5, 10) }
        check(nil) { $0.totalBytesToReceive = nil }
        check(0.25) { $0.isUpload = true }
        #expect(TransferProgress().fractionCompleted == nil)
        (transfer.bytesSent, transfer.totalBytesToSend) = (0, 0)
        #expect(transfer.fractionCompleted == 1)
    }
}

extension TransferProgress {
    fileprivate var isWithinTotals: Bool {
        bytesSent <= totalBytesToSend ?? .max && bytesReceived <= totalBytesToReceive ?? .max
    }
}
