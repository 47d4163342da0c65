import Testing

@testable import URLConfig

/// Requests that a server must not receive twice, and a server that acts on the head of a request.
@Suite(.inTime) struct OwnConnectionTests {
    enum Call: String, CaseIterable {
        case response, responseOfStream, stream, uploadOfData, uploadOfFile

        func send(_ request: URLRequest, _ bytes: Data, to server: FaultServer) async throws {
            var request = request
            let session = server.session
            switch self {
            case .response, .stream: request.httpBody = bytes
            case .responseOfStream: request.httpBodyStream = InputStream(data: bytes)
            default: break
            }
            switch self {
            case .response, .responseOfStream: _ = try await session.response(for: request, config: .silent)
            case .stream: _ = try await session.stream(for: request, config: .silent).collect(upTo: 100)
            case .uploadOfData: try await session.upload(.data(bytes), for: request, config: .silent)
            case .uploadOfFile:
                let folder = TemporaryDirectory()
                try await session.upload(.file(folder.file("body", bytes)), for: request, config: .silent)
            }
        }
    }

    @Test(arguments: Call.allCases)
    func `a server that reads only the head of a POST, and closes, receives one head`(call: Call) async throws {
        let heads = Recorder<String>()
        let fault = FaultServer.Fault { connection in
            while true {
                let request = try connection.head()
                guard request.head.hasPrefix("GET") else {
                    heads.note(request.head)
                    return
                }
                try connection.send(FaultServer.Fault.answer("{}"))
            }
        }
        try await FaultServer.serving(fault) { server in
            for index in 0..<10 {
                try await server.get()
                let request = server.request {
                    $0.method = .post
                    $0.query["id"] = index
                }
                await expectError(.networkConnectionLost) {
                    try await call.send(request, Data("0123456789".utf8), to: server)
                }
            }
        }
        #expect(heads.count == 10)
    }

    #if canImport(FoundationNetworking)
    @Test(.urlSessionOnly) func `a connection of its own is announced as such, and closed after the response`()
        async throws
    {
        let closed = Recorder<Void>()
        let fault = FaultServer.Fault.reading { connection in
            try connection.send(FaultServer.Fault.answer("{}"))
            // The client closes first, because this server does not.
            defer { closed.note(()) }
            try connection.waitForEnd()
        }
        try await FaultServer.serving(fault) { server in
            for index in 1...20 {
                let request = server.request {
                    $0.method = .post
                    $0.body = .text("a")
                    if index > 10 { $0.headers[.connection] = "keep-alive" }
                }
                try await server.response(for: request)
                try await waitUntil { closed.count == index }
            }
            #expect(server.connections == 20)
            #expect(Set(server.requests.prefix(10).map { $0.field("Connection") }) == ["close"])
            #expect(Set(server.requests.suffix(10).map { $0.field("Connection") }) == ["keep-alive"])
        }
    }
    #endif

    @Test func `requests with an idempotency key share connections, because they may be sent again`() async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            for _ in 0..<10 {
                let request = server.request {
                    $0.method = .post
                    $0.idempotencyKey = .automatic
                    $0.body = .text("a")
                }
                try await server.response(for: request)
            }
            #expect(server.connections == 1)
        }
    }

    #if os(Linux)
    /// In a separate process, because the tests of this one also have descriptors.
    @Test(.urlSessionOnly) func `a thousand requests at once leave no descriptors behind`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            try await FaultServer.serving(.ok("{}")) { server in
                let request = server.request {
                    $0.method = .post
                    $0.body = .text("a")
                }
                try await server.response(for: request)
                let before = ChildProcess.descriptors
                try await concurrently(1000) { _ in try await server.response(for: request) }
                #expect(server.requests.count == 1001)
                #expect(server.connections == 1001)
                // Each request has had five. The process itself may have a few more than before.
                try await waitUntil { ChildProcess.descriptors < before + 50 }
            }
        }
    }
    #endif
}
