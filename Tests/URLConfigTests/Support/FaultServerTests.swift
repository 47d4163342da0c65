import Testing

@testable import URLConfig

/// The server of other tests, over a raw socket, without an HTTP client.
@Suite(.inTime) struct FaultServerTests {
    @Test(arguments: [
        "POST / HTTP/1.1\r\ncontent-length: 3\r\n\r\na=1",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\na=\r\n1\r\n1\r\n0\r\nX-Trailer: 1\r\n\r\n",
        "POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\na=1",
    ])
    func `requests are kept with their bodies`(request: String) async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            // Two requests together: the second must begin where the first ends.
            let client = try server.client(request + request)
            try await waitUntil { server.requests.count == 2 }
            client.end()
            #expect(server.requests.map(\.bodyText) == ["a=1", "a=1"])
            #expect(server.requests.allSatisfy { request.hasPrefix($0.head) && $0.head.hasSuffix("\r\n\r\n") })
        }
    }

    private struct Broken: Error, Equatable {
        var by: String
    }

    @Test func `errors of a fault or of the test are thrown when all has ended`() async {
        let failing = FaultServer.Fault { _ in throw Broken(by: "fault") }
        await #expect(throws: Broken(by: "fault")) {
            try await FaultServer.serving(failing) { _ = try? $0.client().read() }
        }
        await #expect(throws: Broken(by: "test")) {
            try await FaultServer.serving(.hangBeforeHead) { server in
                _ = try server.client()
                throw Broken(by: "test")
            }
        }
    }

    #if os(Linux) || os(macOS)
    @Test func `a client that has closed does not end the process`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            signal(SIGPIPE, SIG_DFL)
            try await FaultServer.serving(.endless) { server in
                let gone = try server.client()
                _ = try gone.read(upTo: 1)
                gone.end()
                // This connection stays open: the server writes to it when it stops.
                _ = try server.client().read(upTo: 1)
            }
        }
    }
    #endif

    @Test func `no thread continues`() async throws {
        let running = Locked(0)
        let fault = FaultServer.Fault { connection in
            running.withLock { $0 += 1 }
            defer { running.withLock { $0 -= 1 } }
            try connection.waitForEnd()
        }
        var clients: [TCPSocket] = []
        try await FaultServer.serving(fault) { server in
            for _ in 0..<10 { clients.append(try server.client()) }
            try await waitUntil { running.withLock { $0 } == 10 }
        }
        #expect(running.withLock { $0 } == 0)
        for client in clients { #expect((try? client.read())?.isEmpty != false) }
    }

    #if os(Linux) || os(macOS)
    @Test func `no socket is left open`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            // A child process may inherit sockets of concurrent tests.
            let inherited = TCPSocket.numbers
            for fault in [FaultServer.Fault.hangBeforeHead, .hangInBody, .endless, .reset, .ok("{}"), .empty] {
                var clients: [TCPSocket] = []
                try await FaultServer.serving(fault) { server in
                    for _ in 0..<10 { clients.append(try server.client()) }
                }
                for client in clients { client.end() }
                #expect(TCPSocket.numbers == inherited)
            }
        }
    }
    #endif
}

extension TCPSocket {
    /// The descriptors of all sockets of this process.
    fileprivate static var numbers: [Int32] {
        (0..<1024).filter { number in
            var address = sockaddr()
            var length = socklen_t(MemoryLayout<sockaddr>.size)
            return getsockname(number, &address, &length) == 0 && address.sa_family == sa_family_t(AF_INET)
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
