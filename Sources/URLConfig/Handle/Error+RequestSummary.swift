extension Error {
    /// The error of a call on one line, such as for a log of your own; secrets are hidden.
    ///
    /// ```swift
    /// do {
    ///     user = try await URLSession.shared.response(for: request).validated().decode()
    /// } catch {
    ///     print(error.requestSummary(for: request))
    ///     // GET https://api.example.com/users: The network connection was lost. (URLError -1005); 3 attempts
    /// }
    /// ```
    ///
    /// The line has the request, the status of the response, and what has happened. It also has the number of attempts
    /// if there were several, and the reason why no other followed. This works for every error. `print` of a `URLError`
    /// shows what Foundation knows about it instead.
    ///
    /// - Parameter request: The request, for errors that do not know it, such as errors of validators and
    ///   `CancellationError`; by default `nil`. Its secrets are hidden as the preset of its host says: the call's own
    ///   settings are not known here.
    public func requestSummary(for request: URLRequest? = nil) -> String {
        let own = self as? RequestError
        let preset = request.map { URLSession.Config.preset(for: $0) } ?? .default
        let isKnown = own?.request != nil || own?.response != nil
        let redaction = (isKnown ? own?.shownRedaction : nil) ?? preset.redaction.knowing(request)
        let target = (self as? URLError)?.target(redaction) ?? (own?.request ?? request)?.summary(redaction)
        let status = own?.response.map { " (\($0.status.code))" } ?? ""
        return ((target.map { $0 + status + ": " } ?? "") + outcome(redaction)).onOneLine
    }

    /// The attempts of the call that threw this error; empty for errors that have none, such as `CancellationError`.
    public var attempts: [Attempt] {
        if let error = self as? RequestError { return error.attempts }
        return (self as? URLError)?.errorUserInfo[URLError.attemptsKey] as? [Attempt] ?? []
    }

    /// The outcome without the request: the masked summary, and the attempts if there were several.
    func outcome(_ redaction: Redaction) -> String {
        let count = attempts.count > 1 ? "\(attempts.count) attempts" : nil
        return [redaction.masked(self), count, attempts.last?.reason].compactMap(\.self).joined(separator: "; ")
    }
}

extension URLError {
    fileprivate static let attemptsKey = "URLConfigAttempts"
    private static let requestKey = "URLConfigRequest"

    /// The method and the URL if a call threw this error, or else only the URL that Foundation names.
    fileprivate func target(_ redaction: Redaction) -> String? {
        errorUserInfo[Self.requestKey] as? String ?? failingURL.map { redaction.url($0.absoluteString) }
    }

    /// - Parameter request: The request of the caller, without secrets.
    func with(_ attempts: [Attempt], of request: String?) -> URLError {
        var information = errorUserInfo
        information[Self.attemptsKey] = attempts
        information[Self.requestKey] = request
        return URLError(code, userInfo: information)
    }
}
