/// What all requests of a call share.
final class Call: Sendable {
    let config: URLSession.Config
    /// Whether the body of the request or of the response may be large.
    ///
    /// Then the request's time limit is one for silence: between two arrivals of bytes, not for the whole attempt.
    let isTransfer: Bool
    /// Reports the progress, if the caller wants it.
    let progress: ProgressMeter?
    /// The time since the call began.
    let elapsed: @Sendable () -> Duration

    init(_ config: URLSession.Config, isTransfer: Bool = false) {
        self.config = config
        self.isTransfer = isTransfer
        progress = config.progress.map(ProgressMeter.init)
        elapsed = config.clock.stopwatch()
    }

    /// The time limit of a whole attempt, if the request has one.
    func attemptLimit(of request: URLRequest) -> Duration? { isTransfer ? nil : request.customTimeLimit }

    /// The request's time limit for silence.
    func silenceLimit(of request: URLRequest) -> Duration? { isTransfer ? request.customTimeLimit : nil }
}
