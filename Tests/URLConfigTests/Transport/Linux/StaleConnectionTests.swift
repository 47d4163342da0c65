import Testing

@testable import URLConfig

/// A server that reads a whole request on a reused connection, may process it, and closes the connection without a
/// response.
@Suite(.inTime) struct StaleConnectionTests {
    private typealias Method = HTTPTypes.HTTPRequest.Method

    enum Body: CaseIterable {
        case none, empty, data, stream, chunkedStream, emptyStream, emptyChunkedStream

        var bytes: Data {
            switch self {
            case .none, .empty, .emptyStream, .emptyChunkedStream: Data()
            case .data, .stream, .chunkedStream: Data(String(repeating: "0123456789", count: 10_000).utf8)
            }
        }

        func add(to request: inout URLRequest) {
            switch self {
            case .none: break
            case .empty, .data: request.httpBody = bytes
            default: request.httpBodyStream = InputStream(data: bytes)
            }
            guard self == .stream || self == .emptyStream else { return }
            request.setValue("\(bytes.count)", forHTTPHeaderField: "Content-Length")
        }
    }

    private func request(
        _ method: String, _ body: Body, to server: FaultServer, _ change: (inout URLRequest.Config) -> Void = { _ in }
    ) -> URLRequest {
        server.request {
            $0.method = .init(rawValue: method) ?? .get
            $0.modify = { body.add(to: &$0) }
            change(&$0)
        }
    }

    /// The error code of a call; `nil` if it succeeds.
    private func failure(_ call: () async throws -> DataResponse) async throws -> URLError? {
        do {
            #expect(try await call().isSuccess)
            return nil
        } catch let error as URLError {
            return error
        }
    }

    @Test(arguments: [1_000, 100_000, 4_000_000])
    func `a kept connection that breaks off while the body is sent is lost, too`(count: Int) async throws {
        let fault = FaultServer.Fault { connection in
            try connection.read()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
            // The first two connections are lost at their second request.
            if connection.index < 2 {
                _ = try connection.head()
                return
            }
            while true {
                try connection.read()
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
            }
        }
        try await FaultServer.serving(fault) { server in
            async let other = server.get()
            _ = try await (server.get(), other)
            let request = server.request {
                ($0.method, $0.body) = (.put, .data(Data(count: count), contentType: .png))
                // Errors are masked, but stay what they are.
                $0.query["token"] = "s3cret-0123"
            }
            let response = try await server.response(for: request)
            #expect(response.isSuccess)
            let lost = response.attempts.dropLast()
            #expect(lost.allSatisfy { $0.reason == "again on another connection" })
            #expect(count < 1_000_000 || !lost.isEmpty)
        }
    }

    #if canImport(FoundationNetworking)
    @Test(arguments: ["POST", "PATCH"], Body.allCases)
    func `a request that is not idempotent reaches the server once`(method: String, body: Body) async throws {
        for end in [FaultServer.Fault.End.close, .reset] {
            try await FaultServer.serving(.losingSecond(end)) { server in
                var failures = 0
                for index in 0..<6 {
                    try await server.get()
                    let request = request(method, body, to: server) { $0.query["id"] = index }
                    let failure = try await failure { try await server.response(for: request) }
                    if let failure {
                        failures += 1
                        #expect(failure.code == .networkConnectionLost)
                        #expect(failure.attempts.count == 1)
                    }
                    let sent = server.requests.filter {
                        $0.head.hasPrefix("\(method) ") && $0.head.contains("?id=\(index) ")
                    }
                    #expect(sent.map(\.body) == [body.bytes])
                }
                // With a session, each request uses a new connection, so it loses none.
                #expect(failures == (TransportOfTests.isAsyncHTTPClient ? 6 : 0))
            }
        }
    }

    @Test(.urlSessionOnly)
    func `connections of one request each are no more at a time than a host may have, whoever gives up`()
        async throws
    {
        let (most, open) = (Locked(0), Locked(0))
        let fault = FaultServer.Fault { connection in
            let count = open.withLock { open in
                open += 1
                return open
            }
            most.withLock { $0 = max($0, count) }
            defer { open.withLock { $0 -= 1 } }
            try connection.read()
            try connection.pause(.milliseconds(2))
            try connection.send(FaultServer.Fault.answer("{}"))
        }
        try await FaultServer.serving(fault) { server in
            let request = request("POST", .none, to: server)
            let calls = (0..<300).map { _ in
                Task { try await server.response(for: request) }
            }
            for index in calls.indices where index.isMultiple(of: 2) { calls[index].cancel() }
            for (index, call) in calls.enumerated() {
                switch await call.result {
                case .success(let response): #expect(response.isSuccess)
                case .failure(let error): #expect(error is CancellationError && index.isMultiple(of: 2))
                }
            }
            #expect(server.requests.count >= 150)
        }
        // The client closes a connection before the server notices it.
        #expect(most.withLock { $0 } <= 2 * 6)
    }

    @Test(.urlSessionOnly) func `those who gave up while they waited for a connection are forgotten`() async throws {
        try await FaultServer.serving(.hangBeforeHead) { server in
            let request = request("POST", .none, to: server)
            let stuck = (0..<6).map { _ in
                Task { try await server.response(for: request) }
            }
            try await waitUntil { server.requests.count == 6 }
            for _ in 0..<20 {
                let calls = (0..<100).map { _ in
                    Task {
                        try await server.response(for: request) { $0.deadline = .milliseconds(10) }
                    }
                }
                for call in calls { _ = await call.result }
            }
            let waiting = ShadowSession.of(server.session).waiting
            #expect(0..<500 ~= waiting)
            for call in stuck { call.cancel() }
        }
    }

    @Test(arguments: [Body.data, .none])
    func `an idempotent request is sent once more, and seen where that can be known`(body: Body) async throws {
        try await FaultServer.serving(.losingSecond()) { server in
            // With more connections, one that was made in the meantime may have had its first request as well.
            try await URLSession.with {
                $0.httpMaximumConnectionsPerHost = 1
            } _: { session in
                for _ in 0..<4 {
                    _ = try await session.response(for: server.request(), config: .silent)
                    let response = try await session.response(for: request("PUT", body, to: server), config: .silent)
                    let outcomes = response.attempts.map { ($0.error as? URLError)?.code }
                    // libcurl does not ask for a request without a body.
                    let isSeen = body == .data || TransportOfTests.isAsyncHTTPClient
                    #expect(outcomes == (isSeen ? [.networkConnectionLost, nil] : [nil]))
                    if isSeen { #expect(response.attempts.first?.reason == "again on another connection") }
                }
            }
            let sent = server.requests.filter { $0.head.hasPrefix("PUT ") }
            #expect(sent.count == 8)
            #expect(sent.allSatisfy { $0.body == body.bytes })
        }
    }

    @Test(.urlSessionOnly) func `a stream of the caller's is not sent again`() async throws {
        try await FaultServer.serving(.losingSecond()) { server in
            for _ in 0..<3 {
                try await server.get()
                let failure = try await failure {
                    try await server.response(for: request("PUT", .stream, to: server))
                }
                #expect(failure?.code == .networkConnectionLost)
                #expect(failure?.attempts.count == 1)
            }
            let sent = server.requests.filter { $0.head.hasPrefix("PUT ") }
            #expect(sent.map(\.body) == Array(repeating: Body.stream.bytes, count: 3))
        }
    }
    #endif

    @Test(arguments: [true, false])
    func `a retry policy sends it again if it has an idempotency key`(hasKey: Bool) async throws {
        try await FaultServer.serving(.losingSecond()) { server in
            try await server.get()
            let request = request("POST", .data, to: server) { $0.idempotencyKey = hasKey ? .automatic : nil }
            let failure = try await failure {
                let response = try await server.response(for: request) { $0.retry = .atOnce() }
                #expect(response.attempts.count == (hasKey ? 2 : 1))
                return response
            }
            // With a session, a request without a key uses a new connection.
            #expect(failure?.code == (hasKey || !TransportOfTests.isAsyncHTTPClient ? nil : .networkConnectionLost))
            let keys = server.requests.filter { $0.head.hasPrefix("POST ") }.map { $0.field("Idempotency-Key") }
            #expect(keys.count == (hasKey ? 2 : 1))
            #expect(Set(keys).count == 1)
        }
    }
}
