import Testing

@testable import URLConfig

/// The transport of the tests, used by another transport: the call still decides correctly.
@Suite(.inTime) struct TransportSendTests {
    /// Sends a request with a transport that replaces its body.
    @discardableResult
    private func response(
        for request: URLRequest, to server: FaultServer, sending body: Transport.Body?
    ) async throws -> DataResponse {
        try await server.response(for: request) {
            $0.transport = Transport { request in
                var request = request
                request.body = body
                return try await TransportOfTests.transport.send(request)
            }
        }
    }

    @Test func `a body may be data, a file or a stream`() async throws {
        let directory = TemporaryDirectory()
        let file = try directory.file("file", Data("from a file".utf8))
        let bodies: [Transport.Body?] = [
            .data(Data("from memory".utf8)), .file(file),
            .stream(length: 13) { InputStream(data: Data("from a stream".utf8)) },
            .stream(length: nil) { InputStream(data: Data("from chunks".utf8)) }, nil,
        ]
        try await FaultServer.serving(.ok("{}")) { server in
            let request = server.request { $0.method = .put }
            for body in bodies { try await response(for: request, to: server, sending: body) }
            #expect(
                server.requests.map(\.bodyText) == ["from memory", "from a file", "from a stream", "from chunks", ""])
            #expect(server.requests.map { $0.field("Content-Length") } == ["11", "11", "13", nil, "0"])
        }
    }

    #if canImport(FoundationNetworking)
    @Test(arguments: [HTTPRequest.Method.put, .post])
    func `on a lost connection a body is made again, if the method is idempotent`(method: HTTPRequest.Method)
        async throws
    {
        try await FaultServer.serving(.losingSecond()) { server in
            let made = Recorder<Void>()
            try await server.get()
            let body = Transport.Body.stream(length: 4) {
                made.note(())
                return InputStream(data: Data("body".utf8))
            }
            var attempts: [Attempt] = []
            do {
                let request = server.request { $0.method = method }
                attempts = try await response(for: request, to: server, sending: body).attempts
            } catch let error as URLError {
                #expect(error.code == .networkConnectionLost)
                #expect(error.errorUserInfo.values.allSatisfy { !($0 is Transport.LostConnection) })
                attempts = error.attempts
            }
            #expect(attempts.count == (method == .put ? 2 : 1))
            #expect(made.count == (method == .put ? 2 : 1))
            #expect(server.requests.dropFirst().map(\.bodyText) == (method == .put ? ["body", "body"] : ["body"]))
        }
    }

    @Test func `a request that a transport makes a POST is not sent again on a lost connection`() async throws {
        let fault = FaultServer.Fault { connection in
            while try !connection.read().head.hasPrefix("POST ") { try connection.send(FaultServer.Fault.answer("{}")) }
        }
        try await FaultServer.serving(fault) { server in
            try await server.get()
            await expectError(.networkConnectionLost) {
                try await server.get {
                    $0.transport = Transport { request in
                        var request = request
                        request.urlRequest.httpMethod = "POST"
                        request.body = .data(Data("body".utf8))
                        return try await TransportOfTests.transport.send(request)
                    }
                }
            }
            #expect(server.requests.filter { $0.head.hasPrefix("POST ") }.count == 1)
        }
    }
    #endif

    @Test func `a replaced body leaves no length behind`() async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            let bodies: [Transport.Body?] = [.stream(length: nil) { InputStream(data: Data("longer".utf8)) }, nil]
            for body in bodies {
                var request = server.request { $0.method = .put }
                request.httpBodyStream = InputStream(data: Data("body".utf8))
                request.setValue("4", forHTTPHeaderField: "Content-Length")
                try await response(for: request, to: server, sending: body)
            }
            #expect(server.requests.map(\.bodyText) == ["longer", ""])
        }
    }

    @Test func `a body stream lives no longer than its call`() async throws {
        weak var stream: InputStream?
        try await FaultServer.serving(.ok("{}")) { server in
            do {
                let made = InputStream(data: Data("body".utf8))
                stream = made
                var request = server.request { $0.method = .put }
                request.httpBodyStream = made
                _ = try? await server.response(for: request)
            }
            try await waitUntil { stream == nil }
        }
    }

    @Test func `a file that is not there is an error before anything is sent`() async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            let request = server.request { $0.method = .put }
            let error = await expectError(.invalidRequest) {
                try await response(for: request, to: server, sending: .file(URL(filePath: "/nowhere/photo.png")))
            }
            #expect(error?.reason == "body: the file 'photo.png' cannot be read: No such file or directory")
            #expect(server.connections == 0)
        }
    }

    @Test func `a transport sees the body of a request`() async throws {
        let seen = Recorder<String>()
        let transport = Transport { request in
            switch request.body {
            case .data(let data): seen.note(String(decoding: data, as: UTF8.self))
            case .stream(let length, let open):
                seen.note("\(length ?? -1) " + String(decoding: try open().readToEnd(), as: UTF8.self))
            case .file(let url): seen.note(url.path())
            case .sequence(let pieces, _): seen.note(String(decoding: try await pieces.collect(), as: UTF8.self))
            case nil: seen.note("-")
            }
            return .init()
        }
        var requests = Array(repeating: stubs.request { $0.method = .put }, count: 3)
        requests[1].httpBody = Data("data".utf8)
        requests[2].httpBodyStream = InputStream(data: Data("stream".utf8))
        requests[2].setValue("6", forHTTPHeaderField: "Content-Length")
        for request in requests { try await stubs.response(for: request) { $0.transport = transport } }
        #expect(seen.entries == ["-", "data", "6 stream"])
    }

    @Test func `a limit bounds the bytes that are not read yet`() async throws {
        let held = Transport { request in
            let response = try await TransportOfTests.transport.send(request)
            try await Task.sleep(for: .milliseconds(100))
            return response
        }
        try await FaultServer.serving(.endless) { server in
            let error = await expectError(.responseTooLarge) {
                try await server.get {
                    $0.transport = held
                    $0.responseLimit = 100_000
                }
            }
            #expect(error?.response?.data.count == 100_000)
        }
    }

    @Test func `a transport that collects a body that is too long throws the limit of the call`() async throws {
        let collecting = Transport { request in
            var response = try await TransportOfTests.transport.send(request)
            response.body = .init(try await response.body.collect())
            return response
        }
        try await FaultServer.serving(.ok("0123456789")) { server in
            let error = await #expect(throws: RequestError.self) {
                try await server.get {
                    $0.transport = collecting
                    $0.responseLimit = 9
                }
            }
            #expect(error?.reason == "the body is longer than responseLimit, 9 B")
        }
    }

    @Test func `a stream that was read is an error, and not an empty body`() async throws {
        let twice = Transport { request in
            _ = try await TransportOfTests.transport.send(request).body.collect()
            return try await TransportOfTests.transport.send(request)
        }
        try await FaultServer.serving(.ok("{}")) { server in
            let request = server.request {
                $0.method = .post
                $0.modify = { $0.httpBodyStream = InputStream(data: Data("0123456789".utf8)) }
            }
            await expectError(.invalidRequest) { try await server.response(for: request) { $0.transport = twice } }
            #expect(server.requests.map(\.bodyText) == ["0123456789"])
        }
    }

    @Test func `the request that it makes is checked`() async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            let injecting = Transport { request in
                var request = request
                request.urlRequest.httpMethod = "GET / HTTP/1.1\r\nX-Injected: 1\r\nX"
                return try await TransportOfTests.transport.send(request)
            }
            await expectError(.invalidRequest) { try await server.get { $0.transport = injecting } }
            #expect(server.connections == 0)
        }
    }

    @Test func `dump shows no secrets of what it receives`() async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            let shown = Recorder<String>()
            let dumping = Transport { request in
                let response = try await TransportOfTests.transport.send(request)
                var text = ""
                dump(request, to: &text)
                dump(response, to: &text)
                shown.note(text)
                return response
            }
            let request = server.request {
                $0.query["token"] = "s3cr3t-value"
                $0.authorization = .bearer("t0k3n-value")
            }
            try await server.response(for: request) { $0.transport = dumping }
            let text = shown.entries.joined()
            #expect(text.contains("status"))
            #expect(!text.contains("s3cr3t-value"))
            #expect(!text.contains("t0k3n-value"))
        }
    }
}
