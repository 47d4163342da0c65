/// Whether and when a failed request is sent again.
///
/// Only requests that are safe to repeat are sent again: those with an idempotent method (RFC 9110 §9.2.2) or an
/// `Idempotency-Key` (see ``Foundation/URLRequest/Config/idempotencyKey``). Each attempt is authorized again and has
/// the same body.
public struct RetryPolicy: Sendable {
    /// The maximum number of attempts, including the first.
    public var attempts: Int
    /// The maximum delay before the second attempt, by default 500 ms; it doubles with each attempt.
    ///
    /// The delay is a random time between zero and the maximum, so that many clients do not retry together.
    public var firstDelay = Duration.milliseconds(500)
    /// The maximum delay before any attempt, by default 20 s.
    public var longestDelay = Duration.seconds(20)
    /// The maximum `Retry-After` to wait for, by default 60 s.
    ///
    /// A response with a longer one, or one that exceeds the rest of the deadline, is returned without a retry.
    /// `events(for:)` connects again after this time, also if the server's `retry` time is longer.
    public var longestRetryAfter = Duration.seconds(60)
    /// The statuses of responses that are considered transient.
    public var statuses: Set<HTTPResponse.Status> = [408, 429, 500, 502, 503, 504]
    /// The errors of the transport that are considered transient.
    ///
    /// `.cannotParseResponse` is not one of them: on Linux, Foundation always reports it for some valid responses.
    public var errors: Set<URLError.Code> = [
        .timedOut, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .dnsLookupFailed,
        .notConnectedToInternet, .badServerResponse,
    ]
    /// Whether all calls to a host share a budget of retries, so that retries do not prolong an outage.
    ///
    /// The budget has at most ten retries. Each call adds 0.1 and each minute adds 1.
    public var isBudgeted = true
    /// Tests replace it.
    var budget = RetryBudget.shared

    /// No retries.
    public static let none = Self(attempts: 1)
    /// Three attempts.
    public static let standard = Self(attempts: 3)

    /// A policy with a maximum number of attempts, including the first, and defaults otherwise.
    public init(attempts: Int) {
        self.attempts = attempts
    }

    /// Whether there is no other attempt after this outcome.
    func accepts(_ outcome: Result<HTTPResponse.Status, any Error>) -> Bool {
        switch outcome {
        case .failure(let error as URLError): !errors.contains(error.code)
        case .failure: true
        case .success(let status): !statuses.contains(status)
        }
    }

    /// The delay before the next attempt, and a note for the log; `nil` if there is no next attempt.
    ///
    /// - Parameter jitter: A random number from zero to one, which is a call of the system: only if it is needed.
    func delay(
        after attempt: Int, of request: URLRequest, _ outcome: Result<DataResponse, any Error>, now: Date,
        remaining: Duration?, jitter: @autoclosure () -> Double
    ) -> (delay: Duration, reason: String)? {
        guard attempt < attempts, request.isRepeatable, !accepts(outcome.map(\.status)) else { return nil }
        let limit = min(firstDelay / .seconds(1) * pow(2, Double(attempt - 1)), longestDelay / .seconds(1))
        var delay = Duration(timeoutInterval: limit * jitter()) ?? .zero
        var reason = ""
        if case .success(let response) = outcome, let asked = response.retryAfter(at: now) {
            guard asked <= longestRetryAfter else { return nil }
            // A shorter one keeps the random delay, so that not all clients retry together.
            if asked >= delay { (delay, reason) = (asked, ": Retry-After") }
        }
        if let remaining, delay >= remaining { return nil }
        return (delay, "waiting \(delay.shown)\(reason)")
    }
}

extension URLRequest {
    /// Whether sending the request twice is the same as sending it once.
    var isRepeatable: Bool {
        hasIdempotentMethod || value(forHTTPHeaderField: IdempotencyKey.field)?.isEmpty == false
    }

    /// RFC 9110 §9.2.2.
    var hasIdempotentMethod: Bool {
        ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"].contains(httpMethod ?? "GET")
    }
}

extension DataResponse {
    /// The time to wait before the next request, from `Retry-After`: seconds or a date (RFC 9110 §10.2.3).
    ///
    /// A date is compared with the `Date` of the response, or with now if there is none. Zero if it has passed; `nil`
    /// if the field is missing or invalid.
    public var retryAfter: Duration? { retryAfter(at: Date()) }

    func retryAfter(at now: Date) -> Duration? {
        guard let text = headerFields[.retryAfter]?.trimmingCharacters(in: .whitespaces), !text.isEmpty
        else { return nil }
        // The clock of the server may be wrong.
        let sent = headerFields[date: .date] ?? now
        let isNumber = text.utf8.allSatisfy(\.isDigit)
        guard let seconds = isNumber ? Double(text) : Date(httpDate: text)?.timeIntervalSince(sent) else { return nil }
        return Duration(timeoutInterval: seconds) ?? .zero
    }
}
