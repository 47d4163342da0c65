/// The body of a response: a transport writes it as it arrives, and one reader reads it.
///
/// Everything about a body is decided here and only here: its limit, a reader that is slower than the wire, time
/// limits, cancellation, errors and the end.
final class ReceivedBody: Sendable {
    /// An order to the transport: nothing more must arrive until it is resumed, or nobody wants the rest.
    enum Signal: Sendable { case pause, resume, cancel }

    /// If more bytes arrive than may be in memory, the transport is paused, or files are written.
    enum Excess: Sendable { case pauses, spills }

    /// Returns the next piece of a body that is asked for piece by piece; `nil` at its end.
    ///
    /// It may block, and need not stop when its task is cancelled.
    typealias Source = @Sendable () async throws -> Data?

    /// The number of bytes in memory at which the reader is too slow.
    private let memory: Int
    private let excess: Excess
    private let state: Locked<State>

    /// A body that a transport writes.
    ///
    /// - Parameter memory: The number of bytes in memory at which the reader is too slow.
    init(memory: Int = .max, _ excess: Excess = .pauses) {
        (self.memory, self.excess, state) = (memory, excess, Locked(State()))
    }

    /// A complete body.
    init(_ data: Data) {
        (memory, excess) = (.max, .pauses)
        state = Locked(State(bytes: data, count: data.count, result: .success(())))
    }

    /// A body that is asked for piece by piece.
    init(_ source: @escaping Source) {
        (memory, excess, state) = (.max, .pauses, Locked(State(source: source)))
    }

    /// Sets, once, what is called if the transport has something to do, on any thread and with no lock held.
    func onSignal(_ signal: @escaping @Sendable (Signal) -> Void) { state.withLock { $0.signal = signal } }

    /// Limits the body to the number of bytes that a call allows, unless it is limited already.
    func limit(to limit: Int?) {
        if let error = state.withLock({ $0.limit(to: limit) }) { fail(error) }
    }

    /// Ends the body if a time limit or the deadline of the call passes.
    ///
    /// - Parameters:
    ///   - limits: The time limits of the attempt.
    ///   - clock: Measures the limits; by default the clock of the call.
    ///   - elapsed: The time since the attempt began; by default it begins now.
    func watch(
        _ limits: TimeLimits, of request: Transport.Request, on clock: (any Clock<Duration>)? = nil,
        since elapsed: (@Sendable () -> Duration)? = nil
    ) {
        if isOver {
            request.arrival?.note(\.firstByte)
            request.arrival?.note(\.end)
            return
        }
        let deadline = request.conditions.deadline
        let wait = deadline.wait(
            arrived: { [weak self] in self?.arrived }, expire: { [weak self] in self?.cancel($0) })
        state.withLock { state in
            state.arrival = state.arrival ?? request.arrival
            state.leavesSource = state.leavesSource || request.buffersBody || wait != nil
        }
        watch(limits, on: clock ?? request.conditions.clock, since: elapsed, to: request.urlRequest.url)
        if wait != nil { onEnd { _ in deadline.end(wait) } }
    }

    /// Ends the body if a time limit passes.
    func watch(
        _ limits: TimeLimits, on clock: any Clock<Duration>, since elapsed: (@Sendable () -> Duration)? = nil,
        to url: URL?
    ) {
        guard !limits.isEmpty else { return }
        let watchdog = Watchdog(limits, clock, since: elapsed) { [weak self] in
            self?.isAwaited ?? false
        } expire: { [weak self] in
            self?.fail(URLError(timedOut: url, after: $0))
        }
        state.withLock { state in
            // A transport that uses another one has limits of its own.
            state.watchdogs.append(watchdog)
            state.leavesSource = true
        }
        watchdog.start()
    }

    /// Calls a function when the body has ended, once and with no lock held; now if it has ended.
    ///
    /// A body that is released before its end ends with `CancellationError`.
    func onEnd(_ act: @escaping @Sendable (Result<Void, any Error>) -> Void) {
        let result = state.withLock { state in
            if state.result == nil { state.ends.append(act) }
            return state.result
        }
        if let result { act(result) }
    }

    /// Adds bytes that have arrived.
    func receive(_ bytes: Data) {
        let (reader, watchdogs, overflow, error, arrival) = state.withLock { state in
            let arrival = state.count == 0 && !bytes.isEmpty ? state.arrival : nil
            let error = state.add(bytes, memory, excess) { Overflow { [weak self] in self?.cancel($0) } }
            // Bytes in files do not wake the reader: it asks for them.
            let reader = state.bytes.isEmpty ? nil : state.reader.take()
            return (reader, state.watchdogs, state.overflow, error, arrival)
        }
        arrival?.note(\.firstByte)
        for watchdog in watchdogs { watchdog.touch() }
        reader?.resolve(.success(()))
        if let error { fail(error) }
        overflow?.waitForRoom()
        changePause()
    }

    /// From now on, a reader that is cancelled does not wait for the source.
    func leavesSourceAlone() { state.set(\.leavesSource, true) }

    /// The head of a response has arrived: forgets what has arrived before.
    func restart() {
        touch()
        let arrival = state.withLock { state in
            state.hasHead = true
            if !state.isHeadPassed { (state.bytes, state.spilled, state.overflow, state.count) = (Data(), 0, nil, 0) }
            return state.arrival
        }
        arrival?.note(\.head)
    }

    /// Bytes were sent or received that are not part of the body.
    func touch() { for watchdog in state.withLock({ $0.watchdogs }) { watchdog.touch() } }

    /// The head is passed on: nobody waits for bytes until the body is read.
    func didPassHead() { state.withLock { ($0.hasHead, $0.isHeadPassed) = (true, true) } }

    /// Ends the body, unless it has ended; what has arrived can still be read.
    func finish(_ result: Result<Void, any Error> = .success(())) { end(result) }

    /// Ends the body and the transfer with an error; what has arrived can still be read.
    func fail(_ error: any Error) { end(.failure(error), cancels: true) }

    /// Ends the body and the transfer, and forgets what has arrived.
    func cancel(_ error: any Error = CancellationError()) { end(.failure(error), cancels: true, dropsBytes: true) }

    /// Whether somebody waits for bytes: the reader, or the call if it waits for the head or the whole body.
    var isAwaited: Bool { state.withLock { $0.reader != nil || $0.isAsking || !$0.isHeadPassed } }

    /// The number of bytes that have arrived; `nil` before the head.
    private var arrived: Int? { state.withLock { $0.hasHead || $0.count > 0 ? $0.count : nil } }

    var isOver: Bool { state.withLock { $0.result != nil } }

    /// - Throws: The error that has ended the body.
    func checkResult() throws { try state.withLock { $0.result }?.get() }

    /// - Parameter releasesSource: Whether whoever ends the body has just asked its source, and may release it.
    private func end(
        _ result: Result<Void, any Error>, cancels: Bool = false, dropsBytes: Bool = false, releasesSource: Bool = false
    ) {
        // An object of the caller may be released here, so the lock is not held.
        let before = state.withLock { $0.end(result, dropsBytes: dropsBytes) }
        before.arrival?.note(\.end)
        for watchdog in before.watchdogs { watchdog.stop() }
        for act in before.ends { act(result) }
        before.reader?.resolve(.success(()))
        before.demand?.resolve(.success(()))
        if before.result == nil, cancels { before.signal?(.cancel) }
        guard before.source != nil, !releasesSource else { return }
        // Cancelling or releasing a source may block, and an alarm may call this. So only the closure has it at last.
        DispatchQueue.global().async {
            before.asking?.cancel()
            withExtendedLifetime(before) {}
        }
    }

    /// Pauses or resumes the transport, as the bytes in memory demand.
    ///
    /// This is done outside of the lock, because instrumentation may run then. One thread at a time does it, and looks
    /// again afterwards, so that the last change fits the bytes.
    private func changePause() {
        guard excess == .pauses, memory < .max else { return }
        while let (signal, pauses) = state.withLock({ $0.changePause(memory) }) {
            signal(pauses ? .pause : .resume)
            state.withLock { $0.isChangingPause = false }
        }
    }

    /// The next bytes; `nil` at the end of the body.
    fileprivate nonisolated(nonsending) func next() async throws -> Data? {
        var begins = true
        while true {
            switch try state.withLock({ try $0.next(begins) }) {
            case .use(let bytes):
                changePause()
                return bytes
            case .ask(let source): await ask(source)
            case .begin:
                touch()
                begins = false
            case .wait(let reader, let overflow, let demand, let source):
                overflow?.take { [weak self] in self?.receiveSpilled($0) }
                demand?.resolve(.success(()))
                if let source { pump(source) }
                try await reader.value { self.cancel() }
                begins = true
            case .end: return nil
            }
        }
    }

    /// Asks the source for the next piece that is not empty.
    private nonisolated(nonsending) func ask(_ source: Source) async {
        do {
            while let piece = try await source() {
                if !piece.isEmpty { return receive(piece) }
                try Task.checkCancellation()
                if isOver { return }
            }
            // Many sequences end, and do not throw, when their task is cancelled: the body would be cut.
            try Task.checkCancellation()
            end(.success(()), releasesSource: true)
        } catch {
            end(.failure(error), releasesSource: true)
        }
    }

    /// Asks the source in one task, which can be left alone, each time that the reader waits.
    private func pump(_ source: @escaping Source) {
        let task = Task.onOwnThreads { [self] in
            while !isOver {
                await ask(source)
                let demand = OneShot<Void>()
                if state.withLock({ $0.mustWait(for: demand) }) { try? await demand.value() }
            }
        }
        state.withLock { if $0.result == nil { $0.asking = task } }
        // A handler of the source may block.
        if isOver { DispatchQueue.global().async { task.cancel() } }
    }

    private func receiveSpilled(_ bytes: Data) {
        let reader = state.withLock { state -> OneShot<Void>? in
            guard state.spilled > 0 else { return nil }
            state.spilled -= bytes.count
            state.bytes.append(bytes)
            return state.reader.take()
        }
        reader?.resolve(.success(()))
    }

    /// The only reader of the body; the transfer ends when it is released.
    final class Reader: Sendable {
        private let body: ReceivedBody

        init(_ body: ReceivedBody) {
            self.body = body
        }

        deinit { body.cancel() }

        /// The next bytes, which are never empty; `nil` at the end of the body.
        ///
        /// - Throws: `CancellationError` as soon as the task is cancelled, and the error that has ended the body.
        nonisolated(nonsending) func next() async throws -> Data? {
            if Task.isCancelled {
                body.cancel()
                // A body that was complete has no error, and without its bytes it would look short.
                throw CancellationError()
            }
            return try await body.next()
        }

        /// The beginning, which can be read again.
        func peek(upTo count: Int) async -> Data {
            body.leavesSourceAlone()
            var data = Data()
            while data.count < count, let piece = try? await next() { data.append(piece) }
            body.state.withLock { [data] in $0.bytes = data + $0.bytes }
            return data.prefix(count)
        }
    }

    /// The next action of a reader.
    private enum Next {
        case use(Data)
        case ask(Source)
        /// Begins to wait: a watchdog that sees a reader must not take the time before it for silence.
        case begin
        /// Waits for the first; the others give it bytes.
        case wait(OneShot<Void>, Overflow?, demand: OneShot<Void>?, Source?)
        case end
    }

    private struct State {
        /// The bytes that can be read.
        var bytes = Data()
        /// The number of bytes that follow in files.
        var spilled = 0
        var overflow: Overflow?
        /// The number of bytes that have arrived.
        var count = 0
        /// The limit of a call; `nil` before it is set.
        var limit: Int?
        var hasHead = false
        /// Whether the call has received the head of the response.
        var isHeadPassed = false
        var source: Source?
        /// Whether a task asks the source, because the reader must be able to leave it alone.
        var leavesSource = false
        /// Whether that task has begun.
        var isAsked = false
        /// Whether the reader itself asks the source.
        var isAsking = false
        var asking: Task<Void, Never>?
        /// Resolved when that task may ask again.
        var demand: OneShot<Void>?
        /// The reader, while it waits.
        var reader: OneShot<Void>?
        /// The result; `nil` until the body has ended.
        var result: Result<Void, any Error>?
        var signal: (@Sendable (Signal) -> Void)?
        var isPaused = false
        /// Whether the transport is being paused or resumed at this moment.
        var isChangingPause = false
        var watchdogs: [Watchdog] = []
        /// Is told when the parts arrive.
        var arrival: Arrival?
        /// Called at the end.
        var ends: [@Sendable (Result<Void, any Error>) -> Void] = []

        private var tooLong: RequestError { RequestError(tooLongFor: limit ?? .max, "responseLimit") }

        /// Sets the limit of a call, once; returns an error if more bytes have arrived.
        mutating func limit(to limit: Int?) -> RequestError? {
            guard self.limit == nil else { return nil }
            self.limit = limit ?? .max
            guard let limit, bytes.count > max(0, limit) else { return nil }
            bytes = Data(bytes.prefix(max(0, limit)))
            if result != nil { result = .failure(tooLong) }
            return tooLong
        }

        /// Adds bytes; returns an error if they are more than the limit allows.
        mutating func add(
            _ new: Data, _ memory: Int, _ excess: Excess, _ makeOverflow: () -> Overflow
        ) -> RequestError? {
            isAsking = false
            guard result == nil else { return nil }
            let fitting = new.prefix(max(0, max(0, limit ?? .max) - count))
            count += fitting.count
            if excess == .spills, spilled > 0 || !bytes.isEmpty && fitting.count > memory - bytes.count {
                spilled += fitting.count
                let files = overflow ?? makeOverflow()
                overflow = files
                // With the lock held, so that the order is kept. This does not block.
                files.append(fitting)
            } else if bytes.isEmpty, fitting.startIndex == 0 {
                bytes = fitting
            } else {
                // A slice is copied, because it would keep the whole data in memory.
                bytes.append(fitting)
            }
            return fitting.count < new.count ? tooLong : nil
        }

        /// Removes the bytes, or says what a reader does to get some.
        ///
        /// - Parameter begins: Whether the time of the watchdogs does not yet count from now.
        mutating func next(_ begins: Bool) throws -> Next {
            if !bytes.isEmpty {
                defer { bytes = Data() }
                return .use(bytes)
            }
            if let result, spilled == 0 {
                try result.get()
                return .end
            }
            guard reader == nil, !isAsking else {
                throw RequestError(.invalidResponse, reason: "another task is reading the body")
            }
            if let source, !leavesSource {
                isAsking = true
                return .ask(source)
            }
            if begins, !watchdogs.isEmpty { return .begin }
            let reader = OneShot<Void>()
            self.reader = reader
            defer { isAsked = true }
            return .wait(reader, spilled > 0 ? overflow : nil, demand: demand.take(), isAsked ? nil : source)
        }

        /// Whether the task that asks the source must wait until a reader does.
        mutating func mustWait(for demand: OneShot<Void>) -> Bool {
            guard reader == nil, result == nil else { return false }
            self.demand = demand
            return true
        }

        mutating func changePause(_ memory: Int) -> (@Sendable (Signal) -> Void, Bool)? {
            let isFull = result == nil && bytes.count >= memory
            guard let signal, isPaused != isFull, !isChangingPause else { return nil }
            (isPaused, isChangingPause) = (isFull, true)
            return (signal, isFull)
        }

        /// Ends the body, for which only the first result counts, and returns the state before.
        mutating func end(_ result: Result<Void, any Error>, dropsBytes: Bool) -> Self {
            let before = self
            // A body whose bytes are lost before they were read is not complete, although all of them had arrived.
            let losesBytes = dropsBytes && (spilled > 0 || !bytes.isEmpty)
            if case .success? = self.result, losesBytes { self.result = nil }
            self.result = self.result ?? result
            isAsking = false
            (reader, source, asking, demand, watchdogs, arrival, ends) = (nil, nil, nil, nil, [], nil, [])
            if dropsBytes { (bytes, overflow, spilled) = (Data(), nil, 0) }
            return before
        }
    }
}
