import Testing
import URLConfigTesting

@testable import URLConfig

/// How the body of a response is written and read, without a network.
@Suite(.inTime) struct ReceivedBodyTests {
    /// All bytes that a reader still gets.
    private func rest(_ reader: ReceivedBody.Reader) async throws -> Data {
        var data = Data()
        while let piece = try await reader.next() { data.append(piece) }
        return data
    }

    private func request(_ configure: (inout URLSession.Config) -> Void = { _ in }) -> Transport.Request {
        Transport.Request(for: .with(.init(host: "http://h.invalid")), configure)
    }

    @Test func `a slice does not keep the data that it is a part of`() async throws {
        let body = ReceivedBody()
        body.receive(Data("not this".utf8).dropFirst(4))
        let piece = try await ReceivedBody.Reader(body).next()
        #expect(piece?.startIndex == 0)
        #expect(piece == Data("this".utf8))
    }

    @Test(arguments: [false, true]) func `more bytes than the limit are an error after the bytes that fit`(
        isComplete: Bool
    ) async throws {
        let body = isComplete ? ReceivedBody(Data("12345".utf8)) : ReceivedBody()
        let signals = Recorder<ReceivedBody.Signal>()
        body.onSignal { signals.note($0) }
        body.limit(to: 4)
        let reader = ReceivedBody.Reader(body)
        if !isComplete {
            for text in ["12", "345", "6"] { body.receive(Data(text.utf8)) }
            #expect(signals.entries == [.cancel])
        }
        #expect(try await reader.next() == Data("1234".utf8))
        let error = await expectError(.responseTooLarge) { try await reader.next() }
        #expect(error?.reason.contains("responseLimit, 4 B") == true)
    }

    @Test func `a body without bytes has an end`() async throws {
        #expect(try await ReceivedBody.Reader(ReceivedBody(Data())).next() == nil)
        let body = ReceivedBody()
        body.finish()
        body.receive(Data("late".utf8))
        #expect(try await ReceivedBody.Reader(body).next() == nil)
    }

    /// The disk of a body that is spilled may fail after the last byte has arrived.
    @Test(arguments: [false, true]) func `bytes that are lost after the end are an error`(isSpilled: Bool) async throws
    {
        let body = isSpilled ? ReceivedBody(memory: 4, .spills) : ReceivedBody()
        for text in ["1234", "5678"] { body.receive(Data(text.utf8)) }
        body.finish()
        let reader = ReceivedBody.Reader(body)
        if isSpilled { #expect(try await reader.next() == Data("1234".utf8)) }
        body.cancel(URLError(.cannotWriteToFile))
        await expectError(.cannotWriteToFile) { try await reader.next() }
        let complete = ReceivedBody(Data("1234".utf8))
        #expect(try await rest(ReceivedBody.Reader(complete)) == Data("1234".utf8))
        complete.cancel(URLError(.cannotWriteToFile))
        #expect(try await ReceivedBody.Reader(complete).next() == nil)
    }

    @Test func `the first end counts, and what has arrived is read before it`() async throws {
        let body = ReceivedBody()
        body.receive(Data("1".utf8))
        body.finish(.failure(URLError(.networkConnectionLost)))
        body.finish()
        let reader = ReceivedBody.Reader(body)
        #expect(try await reader.next() == Data("1".utf8))
        for _ in 0..<2 { await expectError(.networkConnectionLost) { try await reader.next() } }
    }

    @Test func `a reader that is released or cancelled ends the transfer, once`() async throws {
        for isReleased in [true, false] {
            let body = ReceivedBody()
            let signals = Recorder<ReceivedBody.Signal>()
            body.onSignal { signals.note($0) }
            var reader: ReceivedBody.Reader? = ReceivedBody.Reader(body)
            body.receive(Data("unread".utf8))
            if isReleased {
                reader = nil
            } else {
                let task = Task { [reader] in
                    withUnsafeCurrentTask { $0?.cancel() }
                    return try await reader?.next()
                }
                await #expect(throws: CancellationError.self) { try await task.valueInTime }
                reader = nil
            }
            #expect(reader == nil)
            #expect(signals.entries == [.cancel])
            #expect(body.isOver)
        }
    }

    @Test func `a waiting reader wakes up for bytes, for the end, and when it is cancelled`() async throws {
        for round in 0..<600 {
            let body = ReceivedBody()
            let reader = ReceivedBody.Reader(body)
            let task = Task { try await reader.next() }
            if round % 2 == 0 { await Task.yield() }
            switch round % 3 {
            case 0:
                body.receive(Data("1".utf8))
                #expect(try await task.valueInTime == Data("1".utf8))
            case 1:
                body.finish()
                #expect(try await task.valueInTime == nil)
            default:
                await task.expectCancelled()
            }
        }
    }

    @Test func `two tasks cannot wait for one body`() async throws {
        let body = ReceivedBody()
        body.didPassHead()
        let reader = ReceivedBody.Reader(body)
        let first = Task { try await reader.next() }
        try await waitUntil { body.isAwaited }
        await expectError(.invalidResponse) { try await reader.next() }
        body.receive(Data("1".utf8))
        #expect(try await first.valueInTime == Data("1".utf8))
    }

    @Test func `the time before a reader waits is no silence, whenever the watchdog looks`() async throws {
        let (clock, body, step) = (TestClock(), ReceivedBody(), Locked(Duration?.none))
        let (limits, now) = (TimeLimits(silence: .seconds(3)), clock.stopwatch())
        body.didPassHead()
        let elapsed = { @Sendable in
            // The watchdog looks at the moment when the reader begins to wait.
            if let step = step.withLock({ $0.take() }) { clock.move(by: step) }
            return now()
        }
        body.watch(limits, on: clock, since: elapsed, to: nil)
        for _ in 0..<3 { clock.move(by: .seconds(3)) }
        step.set(\.self, .seconds(3))
        let reader = ReceivedBody.Reader(body)
        let task = Task { try await reader.next() }
        try await waitUntil { body.isAwaited || body.isOver }
        body.receive(Data("1".utf8))
        #expect(try await task.valueInTime == Data("1".utf8))
    }

    @Test func `a transport is paused and resumed as the bytes in memory demand`() async throws {
        let body = ReceivedBody(memory: 10)
        let signals = Recorder<ReceivedBody.Signal>()
        body.onSignal { [weak body] in
            // No lock is held.
            _ = body?.isOver
            signals.note($0)
        }
        let reader = ReceivedBody.Reader(body)
        for _ in 0..<2 {
            for count in [9, 1, 5] { body.receive(Data(count: count)) }
            #expect(try await reader.next()?.count == 15)
        }
        #expect(signals.entries == [.pause, .resume, .pause, .resume])
        body.receive(Data(count: 10))
        body.finish()
        #expect(try await reader.next()?.count == 10)
        #expect(signals.entries.last == .resume)
    }

    @Test(arguments: [1, 7, 4096, 20_000]) func `bytes that do not fit in memory come back in order`(
        size: Int
    ) async throws {
        var generator = SeededGenerator(seed: UInt64(size))
        let all = Data((0..<20 * size).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
        let body = ReceivedBody(memory: size, .spills)
        let reader = ReceivedBody.Reader(body)
        var (rest, read) = (all, Data())
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...2 * size, using: &generator))
            rest = rest.dropFirst(piece.count)
            body.receive(Data(piece))
            if Int.random(in: 0..<3, using: &generator) == 0, let piece = try await reader.next() { read += piece }
        }
        body.finish()
        read += try await self.rest(reader)
        let isSame = read == all
        #expect(isSame)
    }

    @Test func `the limit counts all bytes, in memory or not`() async throws {
        let body = ReceivedBody(memory: 2, .spills)
        body.limit(to: 10)
        let reader = ReceivedBody.Reader(body)
        for text in ["12345", "67", "89abc"] { body.receive(Data(text.utf8)) }
        var read = Data()
        await expectError(.responseTooLarge) { while let piece = try await reader.next() { read.append(piece) } }
        #expect(read == Data("123456789a".utf8))
    }

    @Test func `a transport that passes a body on has a time limit of its own`() async throws {
        let clock = TestClock()
        let request = request { $0.clock = clock }
        let body = ReceivedBody()
        let elapsed = clock.stopwatch()
        body.watch(TimeLimits(), of: request, since: elapsed)
        body.watch(TimeLimits(whole: .seconds(5)), of: request, since: elapsed)
        let reader = ReceivedBody.Reader(body)
        await clock.waitForSleepers()
        clock.move(by: .seconds(5))
        try await waitUntil { body.isOver }
        await expectError(.timedOut) { try await reader.next() }
    }

    @Test func `a source that blocks when it is cancelled holds up no alarm and no reader`() async throws {
        let (clock, end) = (TestClock(), DispatchSemaphore(value: 0))
        let stream = AsyncStream<Data> { continuation in
            continuation.onTermination = { _ in _ = end.wait(timeout: .now() + 60) }
        }
        let body = ResponseBody(stream)
        body.received.watch(TimeLimits(whole: .seconds(3)), of: request { $0.clock = clock }, since: clock.stopwatch())
        let read = Task { try await body.collect() }
        await clock.waitForSleepers()
        clock.move(by: .seconds(3))
        await expectError(.timedOut) { try await read.valueInTime }
        end.signal()
    }

    @Test func `a complete body is not shorter for a cancelled task`() async {
        let body = ResponseBody(Data("complete".utf8))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await body.collect()
        }
        await #expect(throws: CancellationError.self) { try await task.valueInTime }
    }
}
