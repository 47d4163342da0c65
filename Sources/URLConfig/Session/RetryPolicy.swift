/// Whether and when a request that failed is sent again.
///
/// ```swift
/// let response = try await session.response(for: request) {
///     $0.retry = .standard
///     $0.deadline = .seconds(30)
/// }
/// ```
///
/// Only what does no harm twice is sent twice: methods that are idempotent (RFC 9110 §9.2.2), or any that carries an
/// `Idempotency-Key` (see ``Foundation/URLRequest/Config/idempotencyKey``). Each attempt is authorized anew, and has
/// the same body.
public struct RetryPolicy: Sendable {
    /// The most attempts, the first one included; one for no retry.
    public var attempts: Int
    /// The longest wait before the second attempt; it doubles with each one more.
    ///
    /// The wait itself is random between zero and that, so that many clients do not come back at once.
    public var firstDelay = Duration.milliseconds(500)
    /// What the longest wait does not grow beyond.
    public var longestDelay = Duration.seconds(20)
    /// The longest `Retry-After` that is waited for, if what is left of the deadline is not shorter still: an answer
    /// that asks for more is returned at once.
    public var longestRetryAfter = Duration.seconds(60)
    /// Status codes of answers that may be better the next time.
    public var statuses: Set<Int> = [408, 429, 500, 502, 503, 504]
    /// Failures of the transport that may be transient.
    ///
    /// `.cannotParseResponse` is not among them: on Linux, Foundation reports it for some legal responses, every time.
    public var errors: Set<URLError.Code> = [
        .timedOut, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .dnsLookupFailed,
        .notConnectedToInternet, .badServerResponse,
    ]
    /// What bounds the retries of all calls together; `nil` for no bound.
    public var budget: RetryBudget? = .shared

    /// Nothing is sent again.
    public static let none = Self(attempts: 1)
    /// Three attempts.
    public static let standard = Self(attempts: 3)

    /// A policy that has all but the number of attempts in common with ``standard``.
    ///
    /// - Parameter attempts: The most attempts, the first one included.
    public init(attempts: Int) {
        self.attempts = attempts
    }

    /// How long to wait before the next attempt, and why; `nil` if this was the last.
    ///
    /// - Parameters:
    ///   - attempt: How many attempts there were.
    ///   - request: The request.
    ///   - outcome: What became of the last one.
    ///   - now: When that was, for a `Retry-After` that names a date.
    ///   - remaining: What is left of the deadline; `nil` without one.
    ///   - jitter: A random number from zero to one.
    func delay(
        after attempt: Int, of request: URLRequest, _ outcome: Result<DataResponse, any Error>, now: Date,
        remaining: Duration?, jitter: Double
    ) -> (delay: Duration, reason: String)? {
        guard attempt < attempts, request.mayBeRepeated else { return nil }
        var delay: Duration
        var reason = ""
        switch outcome {
        case .failure(let error):
            guard let error = error as? URLError, errors.contains(error.code) else { return nil }
            delay = backoff(attempt, jitter)
        case .success(let response):
            guard statuses.contains(response.status.code) else { return nil }
            delay = backoff(attempt, jitter)
            if let asked = response.retryAfter(at: now) {
                guard asked <= longestRetryAfter else { return nil }
                // "At once" is for each client a little later, too.
                if asked >= delay { (delay, reason) = (asked, ": Retry-After") }
            }
        }
        if let remaining, delay >= remaining { return nil }
        return (delay, "waiting \(delay.shown)\(reason)")
    }

    /// Full jitter: anything from nothing to a limit that doubles.
    private func backoff(_ attempt: Int, _ jitter: Double) -> Duration {
        let limit = min(firstDelay / .seconds(1) * pow(2, Double(attempt - 1)), longestDelay / .seconds(1))
        return Duration(timeoutInterval: limit * jitter) ?? .zero
    }
}

extension URLRequest {
    /// Whether sending it twice does no more than sending it once (RFC 9110 §9.2.2).
    fileprivate var mayBeRepeated: Bool {
        hasIdempotentMethod || value(forHTTPHeaderField: IdempotencyKey.field)?.isEmpty == false
    }

    /// RFC 9110 §9.2.2.
    var hasIdempotentMethod: Bool {
        ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"].contains(httpMethod ?? "GET")
    }
}

extension DataResponse {
    /// How long to wait before the next request, as `Retry-After` says (RFC 9110 §10.2.3).
    ///
    /// Of a date, it is the time from now, or zero if the date has passed. `nil` if the field is missing or invalid.
    public var retryAfter: Duration? { retryAfter(at: Date()) }

    func retryAfter(at now: Date) -> Duration? {
        guard let text = headerFields[.retryAfter]?.trimmingCharacters(in: .whitespaces), !text.isEmpty else {
            return nil
        }
        if text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) {
            return Double(text).flatMap { Duration(timeoutInterval: $0) ?? .zero }
        }
        guard let date = Date(httpDate: text) else { return nil }
        return Duration(timeoutInterval: date.timeIntervalSince(now)) ?? .zero
    }
}
