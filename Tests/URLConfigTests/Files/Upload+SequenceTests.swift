import Testing
import URLConfigTesting

@testable import URLConfig

#if AsyncHTTPClient
import NIOCore
#endif

/// Bodies that are pieces of an `AsyncSequence`, which can be sent once.
@Suite(.inTime) struct UploadSequenceTests {
    private struct Broken: Error {}

    /// Pieces that fail at the end, if there is an error.
    private static func pieces(_ texts: [String], then error: (any Error)? = nil) -> AsyncThrowingStream<
        Data, any Error
    > {
        AsyncThrowingStream { continuation in
            for text in texts { continuation.yield(Data(text.utf8)) }
            continuation.finish(throwing: error)
        }
    }

    private static func upload(
        _ source: UploadSource, to server: FaultServer, _ configure: (inout URLSession.Config) -> Void = { _ in }
    ) async throws -> DataResponse {
        let request = server.request { $0.method = .put }
        return try await server.session.upload(source, for: request, config: .silent, configure)
    }

    @Test(arguments: [["12", "", "345", "6"], []], [false, true])
    func `the pieces arrive in order, with their length if it is known`(texts: [String], isKnown: Bool) async throws {
        let count = texts.joined().utf8.count
        try await FaultServer.serving(.ok("{}")) { server in
            let reports = Recorder<TransferProgress>()
            let source = UploadSource.sequence(Self.pieces(texts), length: isKnown ? Int64(count) : nil)
            let response = try await Self.upload(source, to: server) { $0.progress = { reports.note($0) } }
            #expect(response.status == .ok)
            #expect(server.requests.map(\.bodyText) == [texts.joined()])
            #expect(server.requests.first?.field("Content-Type") == "application/octet-stream")
            guard count > 0 else { return }
            let isChunked = !isKnown && TransportOfTests.isAsyncHTTPClient
            #expect(server.requests.first?.field("Content-Length") == (isChunked ? nil : "6"))
            #expect(reports.entries.last?.bytesSent == 6)
            #expect(reports.entries.last?.fractionCompleted == (isChunked ? nil : 1))
        }
    }

    @Test(arguments: [["123"], []]) func `a negative length is an unknown one`(texts: [String]) async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            _ = try await Self.upload(.sequence(Self.pieces(texts), length: -1), to: server)
            #expect(server.requests.map(\.bodyText) == [texts.joined()])
            #expect(server.requests.first?.field("Content-Length") != "-1")
        }
    }

    @Test func `a silent sequence without bytes is limited by the timeout`() async throws {
        let clock = TestClock()
        try await FaultServer.serving(.ok("{}")) { server in
            let silent = AsyncStream<Data> { _ in }
            let call = Task {
                let request = server.request { ($0.method, $0.timeout) = (.put, .seconds(100)) }
                return try await server.session.upload(
                    .sequence(silent, length: 0), for: request, config: .silent
                ) { $0.clock = clock }
            }
            let time = Task {
                while !Task.isCancelled {
                    clock.move(by: .seconds(60))
                    try await Task.sleep(for: .milliseconds(5))
                }
            }
            await expectError(.timedOut) { try await call.valueInTime }
            time.cancel()
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `bytes that arrive from one server are passed on to another`() async throws {
        let content = Data.sample(3_000_000)
        let sending = FaultServer.Fault.reading { connection in
            try connection.send(FaultServer.Fault.head(length: content.count))
            try connection.send(content)
        }
        try await FaultServer.serving(sending) { from in
            try await FaultServer.serving(.ok("{}")) { to in
                let film = try await from.stream()
                _ = try await Self.upload(.sequence(film.chunks, length: Int64(content.count)), to: to)
                let isSame = to.requests.map(\.body) == [content]
                #expect(isSame)
            }
        }
    }

    @Test func `of two calls with the same pieces, one sends them all, and the other is refused`() async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            for _ in 0..<20 {
                let source = UploadSource.sequence(Self.pieces(["123", "456"]))
                async let first = Result { try await Self.upload(source, to: server).status }
                async let second = Result { try await Self.upload(source, to: server).status }
                let results = await [first, second]
                #expect(results.compactMap { try? $0.get() } == [.ok])
                let codes = results.compactMap {
                    if case .failure(let error as RequestError) = $0 { error.code } else { nil }
                }
                #expect(codes == [.invalidRequest])
            }
            #expect(server.requests.map(\.bodyText) == Array(repeating: "123456", count: 20))
        }
    }

    @Test(arguments: [nil, 100, 6] as [Int64?])
    func `an error of the sequence is the error of the call, and no complete request arrives`(
        length: Int64?
    ) async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            let source = UploadSource.sequence(Self.pieces(["123", "456"], then: Broken()), length: length)
            await #expect(throws: Broken.self) {
                try await Self.upload(source, to: server) { $0.retry = RetryPolicy(attempts: 3).quick }
            }
            #expect(server.requests.isEmpty)
        }
    }

    #if AsyncHTTPClient
    /// Such as the body of a request that a service receives, and passes on.
    @Test(arguments: [true, false])
    func `an error of SwiftNIO that the sequence throws is not taken for the connection's`(isKept: Bool) async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            if isKept { _ = try await server.get("/first", config: .server) }
            let pieces = Self.pieces(["123"], then: ChannelError.ioOnClosedChannel)
            await #expect(throws: ChannelError.self) {
                try await server.session.upload(
                    .sequence(pieces), for: server.request { $0.method = .put }, config: .server)
            }
        }
    }
    #endif

    @Test(arguments: [
        (5, "body: the sequence has more bytes, but its length is 5"),
        (0, "body: the sequence has more bytes, but its length is 0"),
        (7, "body: the sequence ends after 6 bytes, but its length is 7"),
    ])
    func `another number of bytes is an error, and no complete request arrives`(
        length: Int64, reason: String
    ) async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            let error = await expectError(.invalidRequest) {
                try await Self.upload(.sequence(Self.pieces(["12345", "6"]), length: length), to: server)
            }
            #expect(error?.reason == reason)
            #expect(server.requests.isEmpty)
        }
    }

    @Test(arguments: ["deadline", "timeout", "cancellation"])
    func `the sequence ends with the call`(cause: String) async throws {
        let (asked, ended) = (Recorder<Void>(), Locked(false))
        let endless = AsyncStream<Data>(
            unfolding: {
                if asked.note(()) > 1 { try? await Task.sleep(for: .seconds(600)) }
                return Data("1".utf8)
            }, onCancel: { ended.set(\.self, true) })
        let clock = TestClock()
        try await FaultServer.serving(.ok("{}")) { server in
            let request = server.request {
                $0.method = .put
                if cause == "timeout" { $0.timeout = .seconds(5) }
            }
            let call = Task {
                try await server.session.upload(.sequence(endless), for: request, config: .silent) {
                    $0.clock = clock
                    if cause == "deadline" { $0.deadline = .seconds(5) }
                }
            }
            try await waitUntil { asked.count == 2 }
            // Time in which nobody waits yet does not count, so it may take more than once.
            let moving = Task {
                while cause != "cancellation", !Task.isCancelled { await clock.advance(by: .seconds(5)) }
            }
            defer { moving.cancel() }
            if cause == "cancellation" { call.cancel() }
            let error = await #expect(throws: (any Error).self) { try await call.valueInTime }
            #expect((error as? RequestError)?.code == (cause == "deadline" ? .deadlineExceeded : nil))
            if cause == "deadline" { #expect("\(error as Any)".contains("in attempt 1, before a response")) }
            #expect((error as? URLError)?.code == (cause == "timeout" ? .timedOut : nil))
            #expect(error is CancellationError == (cause == "cancellation"))
            try await waitUntil { ended.withLock(\.self) }
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `a sequence that ignores its cancellation does not keep the call`() async throws {
        let (gate, begun) = (Gate(), Gate())
        let stubborn = AsyncStream<Data>(unfolding: {
            Task { await begun.pass() }
            await gate.pass()
            return nil
        })
        try await FaultServer.serving(.ok("{}")) { server in
            let call = Task { try await Self.upload(.sequence(stubborn), to: server) }
            await begun.waitForArrivals()
            await call.expectCancelled()
            for gate in [gate, begun] { gate.open() }
        }
    }

    @Test(
        arguments: [
            ("503 Busy", nil), ("307 Moved", .refusedRedirect), ("401 Who", .unauthorized), ("303 See", nil),
        ] as [(String, RequestError.Code?)])
    func `it is not sent again`(status: String, code: RequestError.Code?) async throws {
        let first = FaultServer.Fault.raw(
            "HTTP/1.1 \(status)\r\nLocation: /other\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        try await FaultServer.serving(.first(1, first, then: .ok("{}"))) { server in
            let result = await Result {
                try await Self.upload(.sequence(Self.pieces(["123"])), to: server) {
                    $0.retry = RetryPolicy(attempts: 3).quick
                    $0.authenticator = CountingAuthenticator()
                }
            }
            switch result {
            case .success(let response):
                #expect(code == nil)
                #expect(response.status == (status == "303 See" ? .ok : .serviceUnavailable))
            case .failure(let error):
                #expect((error as? RequestError)?.code == code)
                #expect((error as? RequestError)?.reason.contains("sent") == true)
            }
            #expect(server.requests.map(\.bodyText) == (status == "303 See" ? ["123", ""] : ["123"]))
        }
    }

    @Test func `a silent sequence of a transport ends with its call`() async throws {
        let (inner, asks, gate) = (TransportOfTests.transport, Recorder<Void>(), Gate())
        defer { gate.open() }
        let silent = Transport { request in
            var request = request
            let source = AsyncThrowingStream<Data, any Error> {
                if asks.note(()) == 1 { return Data("1".utf8) }
                await gate.pass()
                return nil
            }
            request.body = .sequence(ResponseBody(source), length: nil)
            return try await inner.send(request)
        }
        try await FaultServer.serving(.hangBeforeHead) { server in
            let request = server.request { $0.method = .put }
            let call = Task {
                try await server.session.response(for: request, config: .silent) { $0.transport = silent }
            }
            await gate.waitForArrivals()
            await call.expectCancelled()
            try await waitUntil { gate.cancelled == 1 }
        }
    }

    @Test func `a transport that sends it twice is told`() async throws {
        let inner = TransportOfTests.transport
        let twice = Transport { request in
            var request = request
            request.body = .sequence(ResponseBody(Self.pieces(["123"])), length: 3)
            _ = try await inner.send(request)
            return try await inner.send(request)
        }
        try await FaultServer.serving(.ok("{}")) { server in
            let error = await expectError(.invalidRequest) {
                let request = server.request { $0.method = .put }
                try await server.session.response(for: request, config: .silent) { $0.transport = twice }
            }
            #expect(
                error?.reason == "body: it is for one call, and another call had it; make a new source, or send a file")
            #expect(server.requests.map(\.bodyText) == ["123"])
        }
    }

    #if os(Linux)
    /// In a separate process, so that only this upload counts for its peak memory.
    // The thread sanitizer needs several more bytes for each byte.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["TSAN_OPTIONS"] == nil))
    func `a long sequence needs little memory`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            let reading = FaultServer.Fault { connection in
                // Otherwise the second request could be sent on a connection that is being closed.
                while true {
                    let head = try connection.head()
                    var rest = head.field("Content-Length").flatMap { Int($0) } ?? 0
                    if head.field("Expect") != nil { try connection.send("HTTP/1.1 100 Continue\r\n\r\n") }
                    while rest > 0 { rest -= try connection.received().count }
                    try connection.send(FaultServer.Fault.answer("{}"))
                }
            }
            try await FaultServer.serving(reading) { server in
                // What a process needs once.
                _ = try await Self.upload(.sequence(Self.pieces(["1"]), length: 1), to: server)
                let left = Locked(128)
                let large = AsyncStream<Data>(unfolding: {
                    let isOver = left.withLock { left in
                        left -= 1
                        return left < 0
                    }
                    return isOver ? nil : Data(count: 1 << 20)
                })
                let before = try Memory.peak()
                _ = try await Self.upload(.sequence(large, length: 128 << 20), to: server)
                #expect(try Memory.peak() - before < 48 << 20)
            }
        }
    }
    #endif
}
