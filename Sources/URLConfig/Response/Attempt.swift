/// A request that was sent within a call; a call that is redirected, retried or authorized again has several.
///
/// ```swift
/// print(response.attempts.map(\.description))
/// // ["503 after 12 ms, waiting 3.0 s: Retry-After", "200 after 9 ms"]
/// ```
public struct Attempt: Sendable, CustomStringConvertible, RedactedReflectable {
    /// The status of the response; `nil` if there was none.
    public internal(set) var status: HTTPResponse.Status?
    /// What went wrong instead, such as a `URLError`.
    public internal(set) var error: (any Error)?
    /// The time until the end of the response, or until now.
    public internal(set) var duration = Duration.zero
    /// Why another one followed, such as `waiting 3.0 s: Retry-After`, or why not; without secrets.
    public internal(set) var reason: String?
    /// What the description hides.
    var redaction: Redaction?

    /// Outcome, duration and the reason, without secrets.
    public var description: String {
        let redaction = redaction ?? URLSession.Config.default.redaction
        let outcome = status.map { "\($0.code)" } ?? error.map(redaction.masked) ?? "unfinished"
        return "\(outcome) after \(duration.shown)" + (reason.map { ", " + redaction.maskedByValue($0) } ?? "")
    }
}

extension URLError {
    private static let attemptsKey = "URLConfigAttempts"

    /// The attempts of the call of `response(for:)` that threw this error; empty if no call threw it.
    public var attempts: [Attempt] { errorUserInfo[Self.attemptsKey] as? [Attempt] ?? [] }

    func with(_ attempts: [Attempt]) -> URLError {
        URLError(code, userInfo: errorUserInfo.merging([Self.attemptsKey: attempts]) { $1 })
    }
}
