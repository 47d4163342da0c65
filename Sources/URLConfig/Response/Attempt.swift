/// One sending of a request within a call: a call has several if it was redirected, retried or authorized anew.
///
/// ```swift
/// print(response.attempts.map(\.description))
/// // ["503 after 12 ms, waiting 3.0 s: Retry-After", "200 after 9 ms"]
/// ```
public struct Attempt: Sendable, CustomStringConvertible {
    /// The status of the answer; `nil` if there was none.
    public internal(set) var status: HTTPResponse.Status?
    /// What went wrong instead, such as a `URLError`.
    public internal(set) var error: (any Error)?
    /// How long it took to the end of the answer, or has taken until now.
    public internal(set) var duration = Duration.zero
    /// Why there was another one, or why there was none, without secrets.
    ///
    /// `waiting 3.0 s: Retry-After`, `credentials refreshed`, `to https://…`, `not retried: the retry budget is spent`.
    public internal(set) var reason: String?

    /// Outcome, duration and the reason, without secrets.
    public var description: String {
        let outcome = status.map { "\($0.code)" } ?? error?.summary.escapingControls ?? "unfinished"
        return "\(outcome) after \(duration.shown)" + (reason.map { ", " + $0 } ?? "")
    }
}

/// The attempts of a call, the last of which may be under way.
struct Timeline: Sendable {
    private struct State {
        var attempts: [Attempt] = []
        /// How long the last one has been under way.
        var elapsed: (@Sendable () -> Duration)?
    }

    private let state = LockBox(State())

    /// All of them.
    var all: [Attempt] {
        var state = state.withLock { $0 }
        if let elapsed = state.elapsed { state.attempts[state.attempts.count - 1].duration = elapsed() }
        return state.attempts
    }

    func begin(_ elapsed: @escaping @Sendable () -> Duration) {
        state.withLock { state in
            state.attempts.append(Attempt())
            state.elapsed = elapsed
        }
    }

    /// The last one is over.
    func end(_ outcome: Result<DataResponse, any Error>, after duration: Duration) {
        state.set(\.elapsed, nil)
        change { attempt in
            attempt.duration = duration
            switch outcome {
            case .success(let response): attempt.status = response.status
            case .failure(let error): attempt.error = error
            }
        }
    }

    /// Says why there will be another one, or why not; the last one.
    func go(on reason: String) -> Attempt? {
        change { $0.reason = reason }
    }

    @discardableResult
    private func change(_ change: (inout Attempt) -> Void) -> Attempt? {
        state.withLock { state in
            guard !state.attempts.isEmpty else { return nil }
            change(&state.attempts[state.attempts.count - 1])
            return state.attempts.last
        }
    }
}

extension URLError {
    private static let attemptsKey = "URLConfigAttempts"

    /// The attempts of the call of `response(for:)` that threw this error, this failure last; empty for others.
    public var attempts: [Attempt] { errorUserInfo[Self.attemptsKey] as? [Attempt] ?? [] }

    func with(_ attempts: [Attempt]) -> URLError {
        URLError(code, userInfo: errorUserInfo.merging([Self.attemptsKey: attempts]) { $1 })
    }
}
