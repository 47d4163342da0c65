import Testing

@testable import URLConfig

/// Transports that hang, fail, never end or make calls themselves.
@Suite(.inTime) struct TransportHostileTests {
    @discardableResult
    private func response(
        for request: URLRequest = stubs.request(), _ transport: Transport,
        _ configure: (inout URLSession.Config) -> Void = { _ in }
    ) async throws -> DataResponse {
        try await stubs.response(for: request) {
            $0.transport = transport
            configure(&$0)
        }
    }

    /// Waits without end, even if it is cancelled.
    private static let deaf = Transport { _ in
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        return .init()
    }

    /// Returns the head, but never the body, even if it is cancelled.
    private static let deafInBody = Transport { _ in
        .init(
            body: .init(
                AsyncStream<Data> {
                    await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                    return nil
                }))
    }

    @Test func `deadline, time limit and cancellation hold whatever a transport does`() async throws {
        for transport in [Self.deaf, Self.deafInBody] {
            await expectError(.deadlineExceeded) { try await response(transport) { $0.deadline = .milliseconds(20) } }
            let short = stubs.request { $0.timeout = .milliseconds(20) }
            await expectError(.timedOut) { try await response(for: short, transport) }
            await expectError(.timedOut) {
                let post = stubs.request { ($0.method, $0.body, $0.timeout) = (.post, .json([1]), .milliseconds(20)) }
                let stream = try await stubs.session.stream(for: post, config: .silent) { $0.transport = transport }
                for try await _ in stream.chunks {}
            }
            let call = Task { try await response(transport) }
            await Task.yield()
            await call.expectCancelled()
        }
    }

    #if os(Linux) || os(macOS)
    /// In a separate process, whose threads no other test uses.
    @Test func `one that blocks its thread delays nobody else`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            let blocking = Transport { _ in
                usleep(400_000)
                return .init()
            }
            let start = ContinuousClock.now
            try await concurrently(64) { _ in
                await expectError(.deadlineExceeded) {
                    try await TransportHostileTests().response(blocking) { $0.deadline = .milliseconds(50) }
                }
            }
            #expect(start.duration(to: .now) < .seconds(4))
        }
    }

    /// In a separate process, as above.
    @Test func `a call whose deadline passes before it has a thread is not begun`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            let begun = Recorder<Void>()
            let blocking = Transport { _ in
                begun.note(())
                usleep(400_000)
                return .init()
            }
            let calls = 64 + 2 * ProcessInfo.processInfo.activeProcessorCount
            try await concurrently(calls) { _ in
                _ = try? await TransportHostileTests().response(blocking) { $0.deadline = .milliseconds(50) }
            }
            // It begins after those that waited before it.
            try await TransportHostileTests().response(Transport { _ in .init() }) { $0.deadline = .seconds(300) }
            #expect(begun.count < calls)
        }
    }
    #endif

    @Test func `a body that breaks off is an error, and retried`() async throws {
        let sendings = Recorder<Void>()
        let cut = Transport { _ in
            guard sendings.note(()).isMultiple(of: 2) else {
                return .init(
                    body: .init(
                        AsyncThrowingStream { continuation in
                            continuation.yield(Data("01".utf8))
                            continuation.finish(throwing: URLError(.networkConnectionLost))
                        }))
            }
            return .init(body: .init(Data("0123".utf8)))
        }
        let error = await expectError(.networkConnectionLost) { try await response(cut) }
        #expect(error?.attempts.count == 1)
        _ = try await response(cut)
        let whole = try await response(cut) { $0.retry = .atOnce() }
        #expect(try whole.text() == "0123")
        #expect(whole.attempts.count == 2)
    }

    /// Endless bytes; `ended` is called when they are no longer read.
    private static func endless(_ ended: @escaping @Sendable () -> Void) -> ResponseBody {
        let (pieces, continuation) = AsyncStream.makeStream(of: Data.self, bufferingPolicy: .bufferingOldest(4))
        let feeding = Task {
            while !Task.isCancelled {
                continuation.yield(Data(count: 1000))
                await Task.yield()
            }
        }
        continuation.onTermination = { _ in
            feeding.cancel()
            ended()
        }
        return ResponseBody(pieces)
    }

    @Test func `a limit ends an endless body`() async throws {
        let ended = Gate()
        let error = await expectError(.responseTooLarge) {
            try await response(Transport { _ in .init(body: Self.endless { ended.open() }) }) {
                $0.responseLimit = 2500
            }
        }
        #expect(error?.response?.data.count == 2500)
        // The call does not wait for it.
        await ended.pass()
    }

    @Test func `a body is read once, and in pieces`() async throws {
        var pieces: [Data] = []
        for try await piece in ResponseBody(Data("0123".utf8)) { pieces.append(piece) }
        for try await piece in ResponseBody(Data("xy0123".utf8).dropFirst(2)) { #expect(piece.startIndex == 0) }
        #expect(pieces == [Data("0123".utf8)])
        for try await _ in ResponseBody() { Issue.record("an empty body has no pieces") }
        #expect(try await ResponseBody(Data("0123".utf8)).collect(upTo: 4).count == 4)
        let error = await expectError(.responseTooLarge) { try await ResponseBody(Data("0123".utf8)).collect(upTo: 3) }
        #expect(error?.reason == "the body is longer than the limit, 3 B")
        let body = ResponseBody(AsyncStream<Data> { $0.finish() })
        #expect(try await body.collect().isEmpty)
        let again = await #expect(throws: RequestError.self) { try await body.collect() }
        #expect(again?.reason == "the body was already read")
    }
}
