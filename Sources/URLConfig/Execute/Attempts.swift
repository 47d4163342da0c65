/// The attempts of a call; the last one may be running.
struct Attempts: Sendable {
    private var all: [Attempt] = []
    /// When the running attempt began, as the time of the call; `nil` if there is none.
    private var start: Duration?
    /// The request of the caller.
    var request: URLRequest?

    func all(at now: Duration) -> [Attempt] {
        var all = all
        if let start { all[all.count - 1].duration = now - start }
        return all
    }

    /// - Parameter redaction: Hides secrets where the attempt is shown.
    mutating func begin(at now: Duration, _ redaction: Redaction) {
        all.append(Attempt(redaction: redaction))
        start = now
    }

    mutating func end(at now: Duration, _ outcome: Result<HTTPResponse.Status, any Error>) {
        let duration = start.map { now - $0 } ?? .zero
        start = nil
        changeLast { attempt in
            attempt.duration = duration
            switch outcome {
            case .success(let status): attempt.status = status
            case .failure(let error): attempt.error = (error as? URLError)?.withoutMark ?? error
            }
        }
    }

    @discardableResult
    mutating func changeLast(_ change: (inout Attempt) -> Void) -> Attempt {
        change(&all[all.count - 1])
        return all[all.count - 1]
    }

    /// The error when the deadline of the call has passed, which says how far the call came.
    ///
    /// - Parameters:
    ///   - arrived: The number of bytes that have arrived of a response that has begun.
    ///   - cause: The error before a fallback that was too late.
    func error(
        after limit: Duration, at now: Duration, arrived: Int? = nil, cause: (any Error)? = nil
    ) -> RequestError {
        let place =
            switch (all.last, arrived) {
            case (nil, _): "before anything was sent"
            case (_, let count?): "in attempt \(all.count), after the head and \(count.shownAsBytes) of the body"
            case _ where start != nil: "in attempt \(all.count), before a response"
            case (let last?, _):
                "after attempt \(all.count), "
                    + (last.status.map { "which had a response, \($0.code)" } ?? "which failed")
            }
        let isLate = cause == nil ? "" : "; the fallback did not return in time either"
        var error = RequestError(
            .deadlineExceeded, reason: "the deadline, \(limit.shown), passed \(place)\(isLate)", request: request,
            underlyingError: cause)
        error.attempts = all(at: now)
        return error
    }
}
