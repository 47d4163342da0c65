/// A request that a call has sent; a call that is redirected, retried or authorized again has several attempts.
///
/// ```swift
/// print(response.attempts.map(\.description))
/// // ["503 after 12 ms, waiting 3.0 s: Retry-After", "200 after 9 ms"]
/// ```
public struct Attempt: Sendable, CustomStringConvertible, RedactedReflectable {
    /// The status of the response; `nil` if there was none.
    public internal(set) var status: HTTPResponse.Status?
    /// The error, such as a `URLError`, if there was no response or the body of a download has broken off.
    public internal(set) var error: (any Error)?
    /// The time until the response was complete, or until now.
    public internal(set) var duration = Duration.zero
    /// Why another attempt followed or not, such as `waiting 3.0 s: Retry-After`; secrets are hidden.
    public var reason: String? { note.map { $0.shown(redaction ?? URLSession.Config.default.redaction) } }
    var note: Note?
    /// What the reason and the description hide.
    var redaction: Redaction?

    /// A reason, whose secrets are hidden only when it is shown: most reasons are never read.
    struct Note: Sendable {
        let text: String
        /// The beginning of the URL to which a server has redirected, which the text precedes.
        var url: String?

        func shown(_ redaction: Redaction) -> String {
            redaction.maskedByValue(text) + (url.map(redaction.quote(url:)) ?? "")
        }
    }

    /// The outcome, the duration and the reason; secrets are hidden.
    public var description: String {
        let redaction = redaction ?? URLSession.Config.default.redaction
        let outcomes = [status.map { "\($0.code)" }, error.map(redaction.masked)].compactMap { $0 }
        let outcome = outcomes.isEmpty ? "unfinished" : outcomes.joined(separator: ", ")
        return "\(outcome) after \(duration.shown)" + (note.map { ", " + $0.shown(redaction) } ?? "")
    }
}

extension URLError {
    private static let attemptsKey = "URLConfigAttempts"

    /// The attempts of the call of `response(for:)` that threw this error; otherwise empty.
    public var attempts: [Attempt] { errorUserInfo[Self.attemptsKey] as? [Attempt] ?? [] }

    func with(_ attempts: [Attempt]) -> URLError {
        URLError(code, userInfo: errorUserInfo.merging([Self.attemptsKey: attempts]) { $1 })
    }
}
