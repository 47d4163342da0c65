#if AsyncHTTPClient

import AsyncHTTPClient
import NIOCore
import NIOPosix
import Testing

@testable import URLConfig

/// The errors of the client as `URLError` has them.
@Suite(.inTime) struct AsyncHTTPClientErrorTests {
    private static let fast = RetryPolicy.standard.quick

    /// A server's fault and its code.
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let fault: FaultServer.Fault
        let codes: Set<URLError.Code>
        /// How often the standard policy sends the request.
        var attempts = 3

        var testDescription: String { name }
    }

    @Test(arguments: [
        Row(name: "empty", fault: .empty, codes: [.networkConnectionLost]),
        Row(name: "reset", fault: .reset, codes: [.networkConnectionLost]),
        Row(name: "truncated head", fault: .truncatedHead, codes: [.networkConnectionLost]),
        Row(name: "truncated chunks", fault: .truncatedChunks, codes: [.networkConnectionLost]),
        Row(name: "truncated gzip", fault: .truncatedGzip, codes: [.networkConnectionLost]),
        Row(name: "garbage", fault: .garbage, codes: [.cannotParseResponse], attempts: 1),
        Row(name: "false gzip", fault: .falseGzip, codes: [.cannotDecodeContentData], attempts: 1),
        Row(
            name: "gzip that ends too early", fault: .unfinishedGzip, codes: [.cannotDecodeContentData], attempts: 1),
    ])
    func `a fault has the code of URLSession, and is retried if it is transient`(row: Row) async throws {
        try await FaultServer.serving(row.fault) { server in
            let error = await #expect(throws: URLError.self) {
                try await server.get(config: .server) { $0.retry = Self.fast }
            }
            #expect(error.map { row.codes.contains($0.code) } == true, "\(String(describing: error))")
            #expect(error?.cause != nil)
            #expect(error?.failingURL?.absoluteString == server.request().url?.absoluteString)
            #expect(error?.attempts.count == row.attempts)
            #expect(server.requests.count == row.attempts)
        }
    }

    @Test func `a host without an address cannot be found`() async throws {
        let request = URLRequest.with(.init(host: "http://h.invalid")) { _ in }
        let error = await expectError(.cannotFindHost) {
            try await URLSession.shared.response(for: request, config: .server) { $0.retry = Self.fast }
        }
        #expect(error?.cause != nil)
        #expect(error?.attempts.count == 3)
    }

    @Test func `connecting to a host that does not react ends with the deadline`() async throws {
        try await BlackHole.open { host in
            let request = URLRequest.with(.init(host: host)) { _ in }
            await expectError(.deadlineExceeded) {
                try await URLSession.shared.response(for: request, config: .server) { $0.deadline = .milliseconds(500) }
            }
        }
    }
}

extension FaultServer.Fault {
    /// Half of a compressed body, whose length is announced.
    fileprivate static let truncatedGzip = Self { connection in
        try connection.read()
        let body = try compressed.get()
        try connection.send(head(length: body.count, "Content-Encoding: gzip\r\n"))
        try connection.send(body.prefix(body.count / 2))
    }

    /// A complete body that contains half of the compressed data.
    fileprivate static let unfinishedGzip = Self { connection in
        try connection.read()
        let body = try compressed.get()
        try connection.send(head(length: body.count / 2, "Content-Encoding: gzip\r\n"))
        try connection.send(body.prefix(body.count / 2))
    }

    private static let compressed = Result { try Shell.run("seq 1 20000 | gzip") }
}

#endif
