#if AsyncHTTPClient
import Testing

@testable import URLConfig

/// What Foundation on Linux does wrong and the library cannot change there: with AsyncHTTPClient it is right.
///
/// `FoundationTests` show the same for Foundation.
@Suite(.inTime) struct FoundationFaultsTests {
    private static func response(to fault: FaultServer.Fault) async throws -> DataResponse {
        var response: DataResponse?
        try await FaultServer.serving(fault) { response = try await $0.get(config: .server) }
        return try #require(response)
    }

    /// Responds with bytes that are not UTF-8 either.
    private func latin1(_ text: String) throws -> FaultServer.Fault {
        let bytes = try #require(text.data(using: .isoLatin1))
        return .reading { connection in
            try connection.send(bytes)
        }
    }

    @Test(arguments: ["X-A:1", "X-A: \u{E9}"]) func `a legal head is accepted`(line: String) async throws {
        let fault = try latin1("HTTP/1.1 200 OK\r\n\(line)\r\nContent-Length: 2\r\n\r\n{}")
        let response = try await Self.response(to: fault)
        #expect(try response.text() == "{}")
        let value = response.headerFields[try #require(HTTPField.Name("X-A"))]
        #expect(line == "X-A:1" ? value == "1" : value != nil)
    }

    @Test(arguments: ["", "Transfer-Encoding: chunked\r\n"])
    func `a gzip body that breaks off is an error`(framing: String) async throws {
        let whole = try Shell.run("head -c 1000000 /dev/urandom | gzip -1")
        let half = whole.prefix(whole.count / 2)
        let fault = FaultServer.Fault.reading { connection in
            try connection.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\(framing)\r\n")
            guard !framing.isEmpty else { return try connection.send(half) }
            try connection.send(String(half.count, radix: 16) + "\r\n")
            try connection.send(half)
            try connection.send("\r\n0\r\n\r\n")
        }
        await expectError(.cannotDecodeContentData) { try await Self.response(to: fault) }
    }

    @Test func `fields whose names differ only in case all arrive, and cookies stay apart`() async throws {
        let fault = FaultServer.Fault.fieldLine("X-A: 1\r\nx-a: 2\r\nSet-Cookie: a=1\r\nset-cookie: b=2")
        let response = try await Self.response(to: fault)
        #expect(response.headerFields[values: try #require(HTTPField.Name("X-A"))] == ["1", "2"])
        #expect(response.headerFields[values: .setCookie] == ["a=1", "b=2"])
    }

    @Test(arguments: [FaultServer.Fault.conflictingLengths, .lengthAndChunks])
    func `a body with two lengths is refused`(fault: FaultServer.Fault) async throws {
        await expectError(.cannotParseResponse) { try await Self.response(to: fault) }
    }

    @Test func `a request without a body uses a kept connection, whatever its method`() async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            for method in [HTTPRequest.Method.get, .post, .patch, .post] {
                let request = server.request { $0.method = method }
                try await server.response(for: request) { $0.transport = .asyncHTTPClient }
            }
            #expect(server.requests.count == 4)
            #expect(server.connections == 1)
        }
    }

    @Test func `a redirect that unpacks to 30 MB holds nobody up`() async throws {
        try await FaultServer.serving(.redirectBomb) { bomb in
            let bombs = (0..<4).map { _ in
                Task {
                    try await bomb.get {
                        $0.transport = .asyncHTTPClient
                        $0.redirects = .none
                        $0.responseLimit = nil
                    }
                }
            }
            try await FaultServer.serving(.ok("{}")) { healthy in
                for _ in 0..<100 {
                    let response = try await healthy.get { $0.transport = .asyncHTTPClient }
                    #expect(response.isSuccess)
                }
            }
            for bomb in bombs { #expect(try await bomb.valueInTime.data.count == 30_000_000) }
        }
    }

    /// The error for a fault; `nil` if there is a response.
    private static func failure(of fault: FaultServer.Fault) async throws -> (any Error)? {
        do {
            _ = try await response(to: fault)
            return nil
        } catch {
            return error
        }
    }

    /// In a separate process, because Foundation crashes.
    @Test func `nothing crashes for which Foundation does`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            let text = try await Self.response(to: .trailers).text()
            #expect(text == "{}")
            for fault in [FaultServer.Fault.truncatedHead, .length("9223372036854775807")] {
                let error = try await Self.failure(of: fault) as? URLError
                #expect(error?.code == .networkConnectionLost)
            }
            for location in ["//[::1]:1/", "//%00/", "//a%2Fb/"] {
                let error = try await Self.failure(of: .redirect(to: location))
                #expect(error != nil)
            }
            let cookies = try await Self.response(to: .cookie("🙂=")).cookies
            #expect(cookies.map(\.name) == ["🙂"])
        }
    }

    /// These remain: AsyncHTTPClient refuses what Foundation accepts.
    @Test func `heads of more than 80 kB and folded lines are refused`() async throws {
        func field(_ length: Int) -> FaultServer.Fault { .fieldLine("X-A: \(String(repeating: "v", count: length))") }
        #expect(try await Self.response(to: field(70_000)).isSuccess)
        for fault in [field(90_000), .manyFields, .fieldLine("X-A: a\r\n folded")] {
            await expectError(.cannotParseResponse) { try await Self.response(to: fault) }
        }
    }
}
#endif
