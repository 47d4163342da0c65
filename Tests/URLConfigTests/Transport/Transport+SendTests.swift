import Testing

@testable import URLConfig

/// The transport of the tests, used by another transport: first the head, then bodies of all kinds.
@Suite(.inTime) struct TransportSendTests {
    @discardableResult
    private func response(
        _ server: FaultServer, _ path: URLRequest.Path = "/", method: HTTPRequest.Method = .get,
        _ send: @escaping @Sendable (Transport.Request) async throws -> Transport.Response
    ) async throws -> DataResponse {
        let request = URLRequest.with(server.config) {
            $0.method = method
            $0.path = path
        }
        return try await server.session.response(for: request) {
            $0.logger = nil
            $0.transport = Transport(send)
        }
    }

    /// Sends a head, and a piece of the body each time that the gate is opened.
    private static func stepwise(_ steps: DispatchSemaphore, _ pieces: [String]) -> FaultServer.Fault {
        .init { connection in
            try connection.read()
            let length = pieces.joined().utf8.count
            try connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: \(length)\r\n\r\n")
            for piece in pieces {
                steps.wait()
                try connection.send(piece)
            }
        }
    }

    @Test func `the head comes before the body, and the body as it arrives`() async throws {
        let steps = DispatchSemaphore(value: 0)
        try await FaultServer.serving(Self.stepwise(steps, ["one", "two", "three"])) { server in
            let seen = Recorder<String>()
            let response = try await response(server) { request in
                let response = try await TransportOfTests.transport.send(request)
                seen.note("\(response.status.code)")
                steps.signal()
                for try await piece in response.body {
                    seen.note(String(decoding: piece, as: UTF8.self))
                    steps.signal()
                }
                return .init(status: .accepted)
            }
            #expect(response.status == .accepted)
            #expect(seen.entries == ["200", "one", "two", "three"])
        }
    }

    @Test func `to let go of a body ends the transfer`() async throws {
        let isGone = Locked(false)
        let endless = FaultServer.Fault { connection in
            defer { isGone.set(\.self, true) }
            try connection.read()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
            // Bytes that are not read are kept in memory, without much overhead.
            while true {
                try connection.send("0123456789")
                try connection.pause(.milliseconds(1))
            }
        }
        try await FaultServer.serving(endless) { server in
            let response = try await response(server) { request in
                let response = try await TransportOfTests.transport.send(request)
                for try await piece in response.body where !piece.isEmpty { break }
                return .init(status: .accepted)
            }
            #expect(response.status == .accepted)
            while !isGone.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(5)) }
        }
    }

    @Test(arguments: [true, false]) func `cancelling ends a transfer, before its head and in its body`(
        hasHead: Bool
    ) async throws {
        let isReached = Gate()
        try await FaultServer.serving(hasHead ? .hangInBody : .hangBeforeHead) { server in
            let call = Task {
                try await response(server) { request in
                    if !hasHead { Task { await isReached.pass() } }
                    let response = try await TransportOfTests.transport.send(request)
                    for try await _ in response.body { Task { await isReached.pass() } }
                    return response
                }
            }
            await isReached.waitForArrivals()
            call.cancel()
            isReached.open()
            await #expect(throws: CancellationError.self) { try await call.valueInTime }
        }
    }

    @Test func `a body that breaks off is an error after what came`() async throws {
        try await FaultServer.serving(.truncated) { server in
            let read = Locked(Data())
            await expectError(.networkConnectionLost) {
                try await response(server) { request in
                    let response = try await TransportOfTests.transport.send(request)
                    for try await piece in response.body { read.withLock { $0 += piece } }
                    return response
                }
            }
            #expect(read.withLock { $0 } == Data("0123456789".utf8))
        }
    }

    @Test func `a body may be data, a file or a stream`() async throws {
        let file = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)
        try Data("from a file".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let bodies: [Transport.Body?] = [
            .data(Data("from memory".utf8)), .file(file),
            .stream(length: 13) { InputStream(data: Data("from a stream".utf8)) },
            .stream(length: nil) { InputStream(data: Data("from chunks".utf8)) }, nil,
        ]
        try await FaultServer.serving(.ok("{}")) { server in
            for body in bodies {
                try await response(server, method: .put) { request in
                    var request = request
                    request.body = body
                    return try await TransportOfTests.transport.send(request)
                }
            }
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
            let made = Locked(0)
            try await server.session.response(for: .with(server.config)) { $0.logger = nil }
            let attempts = Locked<[Attempt]>([])
            do {
                let response = try await response(server, method: method) { request in
                    var request = request
                    request.body = .stream(length: 4) {
                        made.withLock { $0 += 1 }
                        return InputStream(data: Data("body".utf8))
                    }
                    return try await TransportOfTests.transport.send(request)
                }
                attempts.set(\.self, response.attempts)
            } catch let error as URLError {
                #expect(error.code == .networkConnectionLost)
                #expect(error.errorUserInfo.values.allSatisfy { !($0 is Transport.LostConnection) })
                attempts.set(\.self, error.attempts)
            }
            #expect(attempts.withLock { $0.count } == (method == .put ? 2 : 1))
            #expect(made.withLock { $0 } == (method == .put ? 2 : 1))
            #expect(server.requests.dropFirst().map(\.bodyText) == (method == .put ? ["body", "body"] : ["body"]))
        }
    }

    @Test func `a request that a transport makes a POST is not sent again on a lost connection`() async throws {
        let fault = FaultServer.Fault { connection in
            while try !connection.read().head.hasPrefix("POST ") { try connection.send(FaultServer.Fault.answer("{}")) }
        }
        try await FaultServer.serving(fault) { server in
            try await server.session.response(for: .with(server.config)) { $0.logger = nil }
            await expectError(.networkConnectionLost) {
                try await response(server) { request in
                    var request = request
                    request.urlRequest.httpMethod = "POST"
                    request.body = .data(Data("body".utf8))
                    return try await TransportOfTests.transport.send(request)
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
                var request = URLRequest.with(server.config) { $0.method = .put }
                request.httpBodyStream = InputStream(data: Data("body".utf8))
                request.setValue("4", forHTTPHeaderField: "Content-Length")
                try await server.session.response(for: request) {
                    $0.logger = nil
                    $0.transport = Transport { request in
                        var request = request
                        request.body = body
                        return try await TransportOfTests.transport.send(request)
                    }
                }
            }
            #expect(server.requests.map(\.bodyText) == ["longer", ""])
        }
    }

    @Test func `a body stream lives no longer than its call`() async throws {
        final class Stream: InputStream {}
        weak var stream: Stream?
        try await FaultServer.serving(.ok("{}")) { server in
            do {
                let made = Stream(data: Data("body".utf8))
                stream = made
                var request = URLRequest.with(server.config) { $0.method = .put }
                request.httpBodyStream = made
                _ = try? await server.session.response(for: request) { $0.logger = nil }
            }
            try await waitUntil { stream == nil }
        }
    }

    @Test func `a file that is not there is an error before anything is sent`() async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            let error = await expectError(.invalidRequest) {
                try await response(server, method: .put) { request in
                    var request = request
                    request.body = .file(URL(filePath: "/nowhere/photo.png"))
                    return try await TransportOfTests.transport.send(request)
                }
            }
            #expect(error?.reason == "body: the file 'photo.png' cannot be read: No such file or directory")
            #expect(server.connections == 0)
        }
    }

    @Test func `a transport sees the body of a request`() async throws {
        let stream = URLRequest.with(.init(host: "http://api.test")) { $0.method = .put }
        let seen = Recorder<String>()
        let transport = Transport { request in
            switch request.body {
            case .data(let data): seen.note(String(decoding: data, as: UTF8.self))
            case .stream(let length, let open):
                let stream = try open()
                stream.open()
                var bytes = [UInt8](repeating: 0, count: 16)
                let count = stream.read(&bytes, maxLength: 16)
                seen.note("\(length ?? -1) " + String(decoding: bytes.prefix(count), as: UTF8.self))
            case .file(let url): seen.note(url.path())
            case .sequence(let pieces, _): seen.note(String(decoding: try await pieces.collect(), as: UTF8.self))
            case nil: seen.note("-")
            }
            return .init()
        }
        var requests = [stream, stream, stream]
        requests[1].httpBody = Data("data".utf8)
        requests[2].httpBodyStream = InputStream(data: Data("stream".utf8))
        requests[2].setValue("6", forHTTPHeaderField: "Content-Length")
        for request in requests {
            try await URLSession.shared.response(for: request) {
                $0.logger = nil
                $0.transport = transport
            }
        }
        #expect(seen.entries == ["-", "data", "6 stream"])
    }
}
