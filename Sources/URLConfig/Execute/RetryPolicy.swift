/// Whether and when a failed request is sent again.
///
/// Only requests that are safe to repeat are sent again: those with an idempotent method (RFC 9110 §9.2.2, RFC 10008)
/// or an `Idempotency-Key` (see ``Foundation/URLRequest/Config/idempotencyKey``). Each attempt is authorized again and
/// has the same body. ``Attempt/reason`` says why a transient failure was not retried.
public struct RetryPolicy: Sendable, ExpressibleByNilLiteral {
    /// The maximum number of attempts, including the first.
    public var attempts: Int
    /// The maximum delay before the second attempt, by default 500 ms; it doubles with each attempt.
    ///
    /// The delay is a random time between zero and the maximum, so that many clients do not retry together.
    public var firstDelay = Duration.milliseconds(500)
    /// The maximum delay before any attempt, by default 20 s; ``firstDelay`` if that is longer.
    public var longestDelay = Duration.seconds(20)
    /// The maximum `Retry-After` to wait for, by default 60 s.
    ///
    /// A response with a longer one, or one that exceeds the rest of the deadline, is returned without a retry.
    /// `events(for:)` connects again in any case. There, this time replaces a longer `Retry-After` or `retry` time.
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
    var budget = Budget.shared
    var shown: String { attempts > 1 ? "\(attempts) attempts, delays up to \(maximumDelay.shown)" : "none" }
    /// The longest delay without a `Retry-After`.
    var maximumDelay: Duration { max(firstDelay, longestDelay) }

    /// No retries.
    public static let none = Self(attempts: 1)
    /// Three attempts.
    public static let standard = Self(attempts: 3)

    /// A policy with a maximum number of attempts, including the first, and defaults otherwise.
    public init(attempts: Int) {
        self.attempts = attempts
    }

    /// No retries: `$0.retry = nil` is ``none``.
    public init(nilLiteral: ()) { self = .none }

    /// Whether this outcome is final, because it is not a transient failure.
    func accepts(_ outcome: Result<HTTPResponse.Status, any Error>) -> Bool {
        switch outcome {
        case .failure(let error as URLError): !errors.contains(error.code)
        case .failure: true
        case .success(let status): !statuses.contains(status)
        }
    }

    /// The delay before the next attempt, or `nil`, and a note for the log.
    ///
    /// - Parameters:
    ///   - attempt: The number of the attempt that failed.
    ///   - response: Its response, if there was one.
    ///   - remaining: The rest of the deadline; `nil` without one.
    ///   - jitter: A random number from zero to one, made only if needed, because that calls the system.
    func delay(
        after attempt: Int, _ response: DataResponse?, now: Date, remaining: Duration?,
        jitter: @autoclosure () -> Double
    ) -> (delay: Duration?, note: String) {
        let limit = min(firstDelay / .seconds(1) * pow(2, Double(attempt - 1)), maximumDelay / .seconds(1))
        var delay = Duration(timeoutInterval: limit * jitter()) ?? .zero
        var source = ""
        if let asked = response?.retryAfter(at: now) {
            guard asked <= longestRetryAfter else {
                let limit = "longestRetryAfter, \(longestRetryAfter.shown)"
                return (nil, "not retried: Retry-After, \(asked.shown), is longer than \(limit)")
            }
            // A shorter one keeps the random delay, so that not all clients retry together.
            if asked >= delay { (delay, source) = (asked, ": Retry-After") }
        }
        if let remaining, delay >= remaining {
            return (nil, "not retried: the deadline would pass before the delay, \(delay.shown)\(source)")
        }
        return (delay, "waiting \(delay.shown)\(source)")
    }

    /// Limits the retries of all calls to a host, because retries add load to a service that is down.
    ///
    /// Each host has a reserve of at most ten retries. Each call adds 0.1 and each minute adds 1. So n calls within m
    /// minutes cause at most 10 + n/10 + m retries.
    final class Budget: Sendable {
        private struct Reserve {
            var retries = Budget.maximum
            var time: ContinuousClock.Instant
        }

        private static let maximum = 10.0
        /// The maximum number of reserves, so that a crawler does not fill the memory.
        private static let maximumHosts = 1000

        static let shared = Budget()

        /// The reserves that are not full; a host without an entry has a full reserve.
        private let reserves = Locked<[String: Reserve]>([:])

        /// Adds to the reserve for a new call to the host.
        func earn(_ host: String, at now: ContinuousClock.Instant = .now) { _ = add(0.1, to: host, at: now) }

        /// Removes one retry from the reserve; `false` if there is none left.
        func spend(_ host: String, at now: ContinuousClock.Instant = .now) -> Bool { add(-1, to: host, at: now) }

        private func add(_ retries: Double, to host: String, at now: ContinuousClock.Instant) -> Bool {
            reserves.withLock { reserves in
                var reserve = reserves.removeValue(forKey: host) ?? Reserve(time: now)
                // Callers read the clock before they take the lock, so `now` may be older than the reserve's time.
                let time = max(reserve.time, now)
                reserve.retries = min(Self.maximum, reserve.retries + (time - reserve.time) / .seconds(60))
                reserve.time = time
                let isEnough = reserve.retries + retries >= 0
                if isEnough { reserve.retries += retries }
                guard reserve.retries < Self.maximum else { return isEnough }
                if reserves.count >= Self.maximumHosts, let oldest = reserves.min(by: { $0.value.time < $1.value.time })
                {
                    reserves[oldest.key] = nil
                }
                reserves[host] = reserve
                return isEnough
            }
        }
    }
}

extension URLRequest {
    /// Whether sending the request twice has the same effect as sending it once.
    var isRepeatable: Bool {
        // Spaces are no part of a value (RFC 9110 §5.5).
        hasIdempotentMethod
            || value(forHTTPHeaderField: IdempotencyKey.field)?.utf8.contains { !" \t".utf8.contains($0) } == true
    }

    /// RFC 9110 §9.2.2; for QUERY, RFC 10008.
    var hasIdempotentMethod: Bool {
        ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "QUERY"].contains(httpMethod ?? "GET")
    }
}

extension DataResponse {
    /// The time to wait before the next request, from `Retry-After`: seconds or a date (RFC 9110 §10.2.3).
    ///
    /// A date is compared with the `Date` of the response, or with now if there is none. Zero if it has passed; `nil`
    /// if the field is missing or invalid.
    public var retryAfter: Duration? { retryAfter(at: Date()) }

    func retryAfter(at now: Date) -> Duration? {
        guard let text = headerFields.single(.retryAfter) else { return nil }
        // The clock of the server may be wrong.
        let sent = headerFields[date: .date] ?? now
        let isNumber = text.utf8.allSatisfy(\.isDigit)
        guard let seconds = isNumber ? Double(text) : Date(httpDate: text)?.timeIntervalSince(sent) else { return nil }
        return Duration(timeoutInterval: seconds) ?? .zero
    }
}
