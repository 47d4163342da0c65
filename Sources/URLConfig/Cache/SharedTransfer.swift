/// One transfer for equal requests of several calls.
struct SharedTransfer: Sendable {
    /// What equal requests have in common, which contains secrets.
    struct Key: Hashable, Sendable {
        let url: URL?
        private let session: ObjectIdentifier
        private let transport: ObjectIdentifier?
        private let cache: ObjectIdentifier?
        /// The name of the user; `nil` if the request shows who asks.
        private let requester: String?
        private let method: String?
        private let fields: [String: String]
        private let cachePolicy: UInt
        private let timeout: TimeInterval
        private let handlesCookies: Bool
        private let networks: [Bool]
        private let responseLimit: Int?

        init(_ sending: Transport.Request, of call: Call) {
            let request = call.complete(sending)
            (url, method, handlesCookies) = (request.url, request.httpMethod, request.httpShouldHandleCookies)
            (cachePolicy, timeout) = (request.cachePolicy.rawValue, request.timeoutInterval)
            networks = request.allowedNetworks
            fields = (request.allHTTPHeaderFields ?? [:]).filter { !Redaction.isOfPropagation($0.key) }
            let cache = call.config.cache
            (self.cache, requester) = (cache.map { ObjectIdentifier($0.core) }, cache?.requester)
            (session, transport) = (ObjectIdentifier(call.session), call.transport.key)
            responseLimit = sending.conditions.responseLimit
        }
    }

    /// A response that was received, as far as it came.
    struct Outcome: Sendable {
        let response: Transport.Response
        let data: Data
        /// What has ended the body.
        let error: (any Error)?

        /// Receives a whole response.
        init(_ response: Transport.Response) async throws {
            let reader = try response.body.read()
            var (data, failure) = (Data(), (any Error)?.none)
            do {
                while let piece = try await reader.next() {
                    if data.isEmpty { data = piece } else { data.append(piece) }
                }
            } catch {
                failure = error
            }
            (self.response, self.data, error) = (response, data, failure)
        }

        /// The response for one of the calls.
        var copy: Transport.Response {
            var response = response
            let body = ReceivedBody()
            body.receive(data)
            body.finish(error.map { .failure($0) } ?? .success(()))
            response.body = ResponseBody(body)
            return response
        }
    }

    /// The next attempt of all calls of a transfer, which should be one transfer again.
    final class Retry: Sendable {
        /// A random number for the delay, the same for all.
        let jitter = Double.random(in: 0...1)
        private let decision = Locked(Bool?.none)

        /// Whether the budget allows it, which is asked once for all.
        ///
        /// - Parameter spend: Called with the lock held, so that others wait for its result. It may take the budget's
        ///   lock, which is never held while another one is taken.
        func isAllowed(by spend: () -> Bool) -> Bool {
            decision.withLock { decision in
                let isAllowed = decision ?? spend()
                decision = isAllowed
                return isAllowed
            }
        }
    }

    private struct State {
        /// The transfers that others may still join, by their numbers.
        var open: [Key: Int] = [:]
        var running: [Int: SharedTransfer] = [:]
        var last = 0
    }

    private static let state = Locked(State())
    /// Of the transfer whose task this is, why the last call has left it before its end; `nil` for a cancellation.
    @TaskLocal static var abandonment: Locked<(any Error)?>?

    private let key: Key
    private let number: Int
    private let retry = Retry()
    private let abandonment = Locked<(any Error)?>(nil)
    private let task: Task<Outcome, any Error>
    /// The number of calls that wait.
    private var waiters = 0

    /// Begins a transfer.
    private init(_ key: Key, _ number: Int, _ work: @escaping @Sendable () async throws -> Outcome) {
        (self.key, self.number) = (key, number)
        task = Task { [abandonment] in
            defer {
                Self.state.withLock { if $0.open[key] == number { $0.open[key] = nil } }
                // A task of the app that has inherited it may go on.
                abandonment.set(\.self, nil)
            }
            return try await Self.$abandonment.withValue(abandonment) { try await work() }
        }
    }

    /// The response of the transfer that is running, or of a new one, which ends with the last call that waits for it.
    ///
    /// - Parameters:
    ///   - deadline: The deadline of the call.
    ///   - join: Called with the retry of the transfer.
    ///   - work: Receives the response, in a task of its own.
    /// - Throws: The errors of `work`; `CancellationError` as soon as the task is cancelled.
    static func response(
        for key: Key, within deadline: Deadline, _ join: (Retry) -> Void,
        _ work: @escaping @Sendable () async throws -> Outcome
    ) async throws -> Transport.Response {
        let (transfer, isFirst) = state.withLock { state in
            state.last += 1
            let number = state.open[key] ?? state.last
            var transfer = state.running[number] ?? Self(key, number, work)
            transfer.waiters += 1
            (state.open[key], state.running[number]) = (number, transfer)
            return (transfer, number == state.last)
        }
        join(transfer.retry)
        let result = await Result {
            try await deadline.run(leavesAlone: true) { try await transfer.task.value.copy }
        }
        transfer.leave(after: result)
        var response = try result.get()
        let status = response.cacheStatus
        response.cacheStatus = {
            var status = status?() ?? CacheStatus(forward: .miss)
            status.isCollapsed = !isFirst
            return status
        }
        return response
    }

    /// A call does not wait any more.
    ///
    /// - Parameter result: The result of the transfer, or why the call did not wait for it.
    private func leave(after result: Result<Transport.Response, any Error>) {
        let isUnwanted = Self.state.withLock { state in
            state.running[number]?.waiters -= 1
            guard state.running[number]?.waiters == 0 else { return false }
            if state.open[key] == number { state.open[key] = nil }
            state.running[number] = nil
            return true
        }
        guard isUnwanted, case .failure(let error) = result else { return }
        if !(error is CancellationError) { abandonment.set(\.self, error) }
        // A handler of the app's transport may block.
        DispatchQueue.global().async { self.task.cancel() }
    }

    /// No other call joins the running transfers of what an unsafe request may have changed, even if it has failed.
    ///
    /// Otherwise who asks after it would receive what the server had before.
    static func closeTransfers(after request: URLRequest, _ response: Transport.Response?) {
        guard !CachePolicy.isSafe(request.httpMethod), let url = request.url else { return }
        let open = state.withLock { $0.open }
        guard !open.isEmpty else { return }
        let named = response.map { CachePolicy.invalidated(by: request, $0.status, $0.headerFields) } ?? []
        let changed = Set(([url] + named).map(\.normalized))
        let closed = open.filter { open in open.key.url.map { changed.contains($0.normalized) } ?? false }
        state.withLock { state in
            for (key, number) in closed where state.open[key] == number { state.open[key] = nil }
        }
    }

    /// The number of calls that wait for transfers of a URL; for tests.
    static func waiters(for url: URL?) -> Int {
        state.withLock { $0.running.values.filter { $0.key.url == url }.reduce(0) { $0 + $1.waiters } }
    }
}
