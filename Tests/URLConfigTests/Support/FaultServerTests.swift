import Testing

@testable import URLConfig

/// Over a raw socket, without an HTTP client.
@Suite(.timeLimit(.minutes(10))) struct FaultServerTests {
    struct Outcome: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var fault: FaultServer.Fault
        var text: String
        var end = TCPSocket.End.closed
    }

    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"

    @Test(arguments: [
        Outcome(testDescription: "empty", fault: .empty, text: ""),
        Outcome(testDescription: "reset", fault: .reset, text: "", end: .reset),
        Outcome(testDescription: "garbage", fault: .garbage, text: "SSH-2.0-OpenSSH_9.2\r\n"),
        Outcome(testDescription: "truncated", fault: .truncated, text: head + "Content-Length: 100\r\n\r\n0123456789"),
        Outcome(
            testDescription: "reset in the body", fault: .resetInBody,
            text: head + "Content-Length: 100\r\n\r\n0123456789", end: .reset),
        Outcome(
            testDescription: "truncated chunks", fault: .truncatedChunks,
            text: head + "Transfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\na\r\n01234"),
        Outcome(
            testDescription: "drip", fault: .drip("{}", every: .milliseconds(1)),
            text: head + "Content-Length: 2\r\n\r\n{}"),
        Outcome(
            testDescription: "interim", fault: .interim("103 Early Hints", times: 2),
            text: String(repeating: "HTTP/1.1 103 Early Hints\r\nX-Interim: 1\r\n\r\n", count: 2)
                + head + "Content-Length: 2\r\n\r\n{}"),
        Outcome(
            testDescription: "status line", fault: .statusLine("HTTP/1.1 000 Zero"),
            text: "HTTP/1.1 000 Zero\r\nContent-Length: 2\r\n\r\n{}"),
        Outcome(
            testDescription: "redirect", fault: .redirect(to: "//[::1]:1/"),
            text: "HTTP/1.1 302 Found\r\nLocation: //[::1]:1/\r\nContent-Length: 2\r\n\r\n{}"),
    ])
    func `a client gets just these bytes and this end`(outcome: Outcome) async throws {
        try await FaultServer.serving(outcome.fault) { server in
            let answer = try server.client().answer()
            #expect(answer.text == outcome.text)
            #expect(answer.end == outcome.end)
        }
    }

    @Test func `huge heads`() async throws {
        try await FaultServer.serving(.hugeField) { server in
            let answer = try server.client().answer()
            #expect(answer.text.utf8.count > 1_000_000)
        }
        try await FaultServer.serving(.manyFields) { server in
            let answer = try server.client().answer()
            #expect(answer.text.split(separator: "\r\n").count == 10_003)
        }
    }

    @Test(arguments: [
        ("", FaultServer.Fault.hangBeforeHead), ("\r\n\r\n", .hangAfterHead), ("0123456789", .hangInBody),
    ])
    func `what hangs ends with the server`(last: String, fault: FaultServer.Fault) async throws {
        var client: TCPSocket?
        try await FaultServer.serving(fault) { server in
            client = try server.client()
            try await waitUntil { !server.requests.isEmpty }
            var text = ""
            while !text.hasSuffix(last) { text += String(decoding: try client?.read(upTo: 1) ?? [], as: UTF8.self) }
        }
        #expect(try client?.read() == [])
    }

    @Test func `an endless body ends with its client`() async throws {
        try await FaultServer.serving(.endless) { server in
            let client = try server.client()
            var count = 0
            while count < 10_000_000 { count += try client.read().count }
            client.end()
        }
    }

    @Test func `the bomb is small and unpacks to 200 MB`() async throws {
        try await FaultServer.serving(.gzipBomb) { server in
            let client = try server.client()
            var answer = Data()
            while case let bytes = try client.read(), !bytes.isEmpty { answer += bytes }
            #expect(answer.count < 300_000)
            let body = try #require(answer.range(of: Data("\r\n\r\n".utf8))).upperBound
            let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try answer[body...].write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let size = String(decoding: try Shell.run("gzip -dc <'\(file.path)' | wc -c"), as: UTF8.self)
            #expect(size.trimmingCharacters(in: .whitespacesAndNewlines) == "200000000")
        }
    }

    @Test func `a stale connection`() async throws {
        try await FaultServer.serving(.losingSecond()) { server in
            let client = try server.client()
            #expect(String(decoding: try client.read(), as: UTF8.self).hasSuffix("{}"))
            try client.write(FaultServer.get.utf8)
            #expect(try client.answer().text == "")
            #expect(server.requests.count == 2)
            #expect(server.connections == 1)
        }
    }

    @Test func `a fault for the first connections only`() async throws {
        try await FaultServer.serving(.first(2, .reset, then: .closingAfterAnswer("{}"))) { server in
            var ends: [TCPSocket.End] = []
            for _ in 0..<3 { ends.append(try server.client().answer().end) }
            #expect(ends == [.reset, .reset, .closed])
            #expect(server.connections == 3)
        }
    }
}

extension TCPSocket {
    enum End: Sendable {
        case closed
        case reset
    }

    /// The data until the end, and how the connection ended.
    func answer() throws -> (text: String, end: End) {
        var bytes: [UInt8] = []
        do {
            while case let more = try read(), !more.isEmpty { bytes += more }
            return (String(decoding: bytes, as: UTF8.self), .closed)
        } catch let failure as Failure where failure.code == ECONNRESET {
            return (String(decoding: bytes, as: UTF8.self), .reset)
        }
    }
}

extension FaultServer {
    static let get = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"

    /// A connection that has sent this request.
    func client(_ request: String = get) throws -> TCPSocket {
        let socket = try TCPSocket()
        try socket.reach(port)
        try socket.write(request.utf8)
        return socket
    }
}
