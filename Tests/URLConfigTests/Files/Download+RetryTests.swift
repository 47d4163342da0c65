import Testing
import URLConfigTesting

@testable import URLConfig

/// Downloads that continue within one call after a failure.
@Suite(.inTime) struct DownloadRetryTests {
    private static let version = FileServer.Version(1, size: 1_000_000)
    private let folder = DownloadFolder()

    @Test(arguments: [1, 65_536, 999_999], [FaultServer.Fault.End.close, .reset])
    func `after a failure, the rest is requested`(count: Int, end: FaultServer.Fault.End) async throws {
        try await FileServer(Self.version, cuts: [.init(count: count, end: end)]).serving { server in
            let response = try await server.download(to: folder, attempts: 2)
            #expect(folder.has(Self.version.content))
            #expect(response.head.attempts.count == 2)
            #expect(response.head.attempts[0].error is URLError)
            #expect(response.head.attempts[0].reason?.hasPrefix("waiting") == true)
            if case .close = end { #expect(server.hasRanges(from: nil, count)) }
        }
    }

    @Test func `after silence, the rest is requested`() async throws {
        let clock = TestClock()
        try await FileServer(Self.version, cuts: [.init(count: 500_000, end: .hang)]).serving { server in
            let folder = folder
            // It is long, because Foundation's clock also runs.
            let request = server.request("a.zip") { $0.timeout = .seconds(300) }
            let call = Task { try await server.download(request, to: folder, attempts: 2) { $0.clock = clock } }
            try await waitUntil { folder.size(folder.part) == 500_000 }
            // Time is silence only while the call waits for bytes, so three steps may be too few. The delay before the
            // next attempt is zero. At most one step falls into that attempt.
            try await waitUntil {
                clock.move(by: .seconds(100))
                return clock.asked.contains { $0 <= .zero }
            }
            let response = try await call.valueInTime
            #expect(folder.has(Self.version.content))
            #expect(response.head.status == .partialContent)
            #expect(response.head.attempts.count == 2)
            #expect((response.head.attempts[0].error as? URLError)?.code == .timedOut)
            #expect(server.hasRanges(from: nil, 500_000))
        }
    }

    @Test func `a line that breaks off again and again does not end a long download`() async throws {
        try await FileServer { _, _ in .init(version: Self.version, cut: .init(count: 200_000)) }.serving { server in
            // A part of another version does not count.
            try server.leavePart(900_000, of: .init(2, size: 1_000_000), in: folder)
            let response = try await server.download(to: folder, attempts: 2)
            #expect(folder.has(Self.version.content))
            #expect(response.head.attempts.count >= 5)
        }
    }

    @Test func `bytes that arrive once more are no progress`() async throws {
        let version = Self.version.with()
        try await FileServer { _, _ in .init(version: version, cut: .init(count: 500_000)) }.serving { server in
            let error = await #expect(throws: URLError.self) { try await server.download(to: folder, attempts: 3) }
            // Only the first time, the first half is new; AsyncHTTPClient may deliver only a part of it, more or less.
            #expect(3...10 ~= error?.attempts.count ?? 0)
        }
    }

    @Test func `failures before and in a body are counted together`() async throws {
        let fault = FaultServer.Fault.numbered { number, _, connection in
            if number % 2 == 0 {
                try connection.send("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            } else {
                try connection.send(FaultServer.Fault.head(length: 100) + "0123456789")
            }
            return false
        }
        try await FaultServer.serving(fault) { server in
            await #expect(throws: URLError.self) { try await server.download(to: folder, attempts: 4) }
            #expect(server.requests.count == 4)
        }
    }

    @Test(arguments: [(nil, 1), ("key", 3)]) func `only idempotent requests are sent again, and only GET continues`(
        key: String?, requests: Int
    ) async throws {
        try await FileServer(Self.version, cuts: .init(repeating: .init(count: 500), count: 9)).serving { server in
            var request = server.request("a.zip")
            request.httpMethod = "POST"
            request.setValue(key, forHTTPHeaderField: "Idempotency-Key")
            await #expect(throws: URLError.self) { try await server.download(request, to: folder, attempts: 3) }
            #expect(server.ranges == Array(repeating: nil, count: requests))
            let names = try folder.names
            #expect(names == [])
        }
    }

    @Test func `the budget and the clock of the policy are used`() async throws {
        let clock = TestClock()
        try await FileServer { _, _ in .init(version: Self.version, cut: .init(count: 80_000)) }.serving { server in
            let error = await #expect(throws: URLError.self) {
                try await server.download(to: folder, attempts: 99) {
                    $0.retry.isBudgeted = true
                    $0.retry.budget = RetryPolicy.Budget()
                    $0.clock = clock
                }
            }
            // Ten retries, and a little for the call.
            #expect(error?.attempts.count == 11)
            #expect(error?.attempts.last?.reason == "not retried: the retry budget is spent")
            #expect(clock.asked.count == 10)
        }
    }

    @Test(arguments: [true, false]) func `the limit holds for the whole file`(isKnown: Bool) async throws {
        let unknown = FaultServer.Fault.reading { connection in
            try connection.send("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\n\r\n")
            try connection.send(Self.version.content)
        }
        let server = isKnown ? FileServer(Self.version, cuts: [.init(count: 700_000)]).fault : unknown
        try await FaultServer.serving(server) { server in
            try await server.download(to: folder, attempts: 2) { $0.responseLimit = 1_000_000 }
            #expect(folder.has(Self.version.content))
        }
        let other = DownloadFolder()
        try await FaultServer.serving(server) { server in
            let error = await expectError(.responseTooLarge) {
                try await server.download(to: other, attempts: 2) { $0.responseLimit = 999_999 }
            }
            #expect(error?.response?.status == .ok)
            #expect(server.requests.count == 1)
            #expect(other.text(other.file) == nil)
        }
    }

    @Test func `the limit includes the bytes of earlier runs`() async throws {
        try await FileServer(Self.version).serving { server in
            try server.leavePart(700_000, of: Self.version, in: folder)
            await expectError(.responseTooLarge) {
                try await server.download(to: folder) { $0.responseLimit = 999_999 }
            }
            try await server.download(to: folder)
            #expect(server.hasRanges(from: 700_000, 700_000))
        }
    }
}
