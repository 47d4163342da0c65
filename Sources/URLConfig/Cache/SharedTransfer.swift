/// One transfer for equal requests of several calls.
struct SharedTransfer: Sendable {
    /// What equal requests have in common, which contains secrets.
    struct Key: Hashable, Sendable {
        let session: ObjectIdentifier
        let transport: ObjectIdentifier?
        let cache: ObjectIdentifier?
        let requester: String?
        let url: URL?
        private let method: String?
        private let fields: [String: String]
        private let cachePolicy: UInt
        private let timeout: TimeInterval
        private let handlesCookies: Bool
        private let responseLimit: Int?

        /// - Parameters:
        ///   - requester: The name of the user; `nil` if the request shows who asks.
        ///   - request: The request with what the session adds to it.
        init(
            session: ObjectIdentifier, transport: ObjectIdentifier?, cache: ObjectIdentifier?, requester: String?,
            request: URLRequest, responseLimit: Int?
        ) {
            (self.session, self.transport, self.cache) = (session, transport, cache)
            (self.requester, self.responseLimit) = (requester, responseLimit)
            (url, method) = (request.url, request.httpMethod)
            (cachePolicy, timeout) = (request.cachePolicy.rawValue, request.timeoutInterval)
            handlesCookies = request.httpShouldHandleCookies
            // The fields of a trace are new for each request.
            fields = (request.allHTTPHeaderFields ?? [:]).filter { !Redaction.isOfTrace($0.key) }
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
        private struct State {
            var jitter: Double?
            var isAllowed: Bool?
        }

        private let state = Locked(State())

        /// A random number for the delay, the same for all.
        var jitter: Double {
            state.withLock { state in
                let jitter = state.jitter ?? .random(in: 0...1)
                state.jitter = jitter
                return jitter
            }
        }

        /// Whether the budget allows it, which is asked once for all.
        ///
        /// - Parameter spend: Called with the lock held, so that others wait for its result. It may take the budget's
        ///   lock, which is never held while another one is taken.
        func isAllowed(by spend: () -> Bool) -> Bool {
            state.withLock { state in
                let isAllowed = state.isAllowed ?? spend()
                state.isAllowed = isAllowed
                return isAllowed
            }
        }
    }

    private struct Running {
        let key: Key
        let retry = Retry()
        var waiters: [Int: OneShot<Outcome>] = [:]
        var task: Task<Void, Never>?
    }

    private struct State {
        /// The transfers that others may still join, by their numbers.
        var open: [Key: Int] = [:]
        var running: [Int: Running] = [:]
        var last = 0

        /// - Returns: The transfer that has ended.
        mutating func end(_ number: Int) -> Running? {
            guard let ended = running.removeValue(forKey: number) else { return nil }
            if open[ended.key] == number { open[ended.key] = nil }
            return ended
        }
    }

    private static let state = Locked(State())

    /// The response of the transfer that is running, or of a new one.
    ///
    /// - Parameters:
    ///   - join: Called with the retry of the transfer, before it begins.
    ///   - work: Receives the response, in a task of its own.
    /// - Throws: The errors of `work`; `CancellationError` as soon as the task is cancelled.
    static func response(
        for key: Key, _ join: (Retry) -> Void, _ work: @escaping @Sendable () async throws -> Outcome
    ) async throws -> Transport.Response {
        let waiter = OneShot<Outcome>()
        let (id, number, retry) = state.withLock { state in
            state.last += 1
            let number = state.open[key] ?? state.last
            state.open[key] = number
            state.running[number, default: Running(key: key)].waiters[state.last] = waiter
            return (state.last, number, state.running[number]?.retry)
        }
        if let retry { join(retry) }
        let isFirst = id == number
        if isFirst { start(number, work) }
        defer { leave(number, id) }
        var response = try await waiter.value().copy
        let status = response.cacheStatus
        response.cacheStatus = {
            var status = status?() ?? CacheStatus(forward: .miss)
            status.isCollapsed = !isFirst
            return status
        }
        return response
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
        state.withLock { $0.running.values.filter { $0.key.url == url }.reduce(0) { $0 + $1.waiters.count } }
    }

    private static func start(_ number: Int, _ work: @escaping @Sendable () async throws -> Outcome) {
        let task = Task {
            let outcome = await Result(of: work)
            let ended = state.withLock { $0.end(number) }
            for waiter in (ended?.waiters ?? [:]).values { waiter.resolve(outcome) }
        }
        let isWanted = state.withLock { state in
            state.running[number]?.task = task
            return state.running[number] != nil
        }
        // It has ended already, or everybody has left.
        if !isWanted { task.cancel() }
    }

    /// A call does not wait any more; the transfer ends with the last one.
    private static func leave(_ number: Int, _ id: Int) {
        let unwanted = state.withLock { state -> Running? in
            state.running[number]?.waiters[id] = nil
            return state.running[number]?.waiters.isEmpty == true ? state.end(number) : nil
        }
        unwanted?.task?.cancel()
    }
}
