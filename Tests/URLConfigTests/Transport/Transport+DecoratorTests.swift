import Testing

@testable import URLConfig

/// Transports that pass requests to the transport of the tests: the call still decides correctly.
@Suite(.inTime) struct TransportDecoratorTests {
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
