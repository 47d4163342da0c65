import Foundation
import HTTPTypes
import Testing
import URLConfigTesting

@testable import URLConfig

/// Downloads that continue within one call after a failure.
@Suite(.inTime) struct DownloadRetryTests {
    private static let version = FileServer.Version(1, size: 1_000_000)
    private let folder: DownloadFolder

    init() throws { folder = try DownloadFolder() }

    @Test(arguments: [1, 1000, 65_536, 500_000, 999_999], [FaultServer.Fault.End.close, .reset])
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
        try await FileServer(Self.version, cuts: [.init(count: 500_000, end: .hang)]).serving { server in
            let request = server.request("a.zip") { $0.timeout = .seconds(10) }
            let response = try await server.session.download(for: request, to: folder.file, config: .silent) {
                $0.retry = RetryPolicy(attempts: 50).quick
            }
            #expect(folder.has(Self.version.content))
            #expect(response.head.status == .partialContent)
            #expect((response.head.attempts[0].error as? URLError)?.code == .timedOut)
        }
    }

    @Test func `a line that breaks off again and again does not end a long download`() async throws {
        let server = FileServer { _, _ in .init(version: Self.version, cut: .init(count: 200_000)) }
        try await server.serving { server in
            let response = try await server.download(to: folder, attempts: 2)
            #expect(folder.has(Self.version.content))
            #expect(response.head.attempts.count >= 5)
        }
    }

    @Test func `bytes that arrive once more are no progress`() async throws {
        let version = Self.version.with()
        let server = FileServer { _, _ in .init(version: version, cut: .init(count: 500_000)) }
        try await server.serving { server in
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

    @Test func `only idempotent requests are sent again`() async throws {
        for (key, requests) in [(nil, 1), ("key", 3)] {
            try await FileServer(Self.version, cuts: .init(repeating: .init(count: 500), count: 9)).serving { server in
                var request = server.request("a.zip")
                request.httpMethod = "POST"
                request.setValue(key, forHTTPHeaderField: "Idempotency-Key")
                await #expect(throws: URLError.self) {
                    try await server.session.download(for: request, to: folder.file, config: .silent) {
                        $0.retry = RetryPolicy(attempts: 3).quick
                    }
                }
                #expect(server.requests.count == requests)
                #expect(server.ranges.allSatisfy { $0 == nil })
                let names = try folder.names
                #expect(names == [])
            }
        }
    }

    @Test func `the budget and the clock of the policy are used`() async throws {
        let clock = TestClock()
        let server = FileServer { _, _ in .init(version: Self.version, cut: .init(count: 80_000)) }
        try await server.serving { server in
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

    @Test(arguments: [999_999, 1_000_000]) func `the limit holds for the whole file`(limit: Int) async throws {
        let unknown = FaultServer.Fault { connection in
            try connection.read()
            try connection.send("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\n\r\n")
            try connection.send(Self.version.content)
        }
        for fault in [FileServer(Self.version, cuts: [.init(count: 700_000)]).fault, unknown] {
            let folder = try DownloadFolder()
            try await FaultServer.serving(fault) { server in
                func download() async throws {
                    try await server.download(to: folder, attempts: 2) { $0.responseLimit = limit }
                }
                guard limit < 1_000_000 else {
                    try await download()
                    #expect(folder.has(Self.version.content))
                    return
                }
                let error = await expectError(.responseTooLarge) { try await download() }
                #expect(error?.response?.status == .ok)
                #expect(server.requests.count == 1)
                #expect(folder.text(folder.file) == nil)
            }
        }
    }

    @Test func `the limit includes the bytes of earlier runs`() async throws {
        try await FileServer(Self.version, cuts: [.init(count: 700_000)]).serving { server in
            await #expect(throws: URLError.self) { try await server.download(to: folder) }
            await expectError(.responseTooLarge) {
                try await server.download(to: folder) { $0.responseLimit = 999_999 }
            }
            try await server.download(to: folder)
            #expect(server.hasRanges(from: nil, 700_000, 700_000))
        }
    }
}
