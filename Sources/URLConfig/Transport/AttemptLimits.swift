/// The time limits of an attempt whose body may be large, for transports that do not watch them themselves.
struct AttemptLimits: Sendable {
    /// The limit for the head, and for each piece of the body.
    private let silence: Duration?
    /// The limit for the whole attempt.
    private let whole: Duration?
    private let elapsed: @Sendable () -> Duration
    private let clock: any Clock<Duration>
    private let url: URL?

    init(silence: Duration?, whole: Duration?, of request: Transport.Request) {
        self.silence = silence
        self.whole = whole
        clock = request.conditions.clock
        elapsed = clock.stopwatch()
        url = request.urlRequest.url
    }

    var isNeeded: Bool { silence != nil || whole != nil }

    /// - Parameter isSilence: Whether no bytes are sent or received meanwhile.
    /// - Throws: `URLError` with code `.timedOut` if a limit passes, and the errors of the operation.
    func run<Value: Sendable>(
        isSilence: Bool = true, _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let rest = whole.map { $0 - elapsed() }
        return try await withDeadline([isSilence ? silence : nil, rest].compactMap { $0 }.min(), clock) { [self] in
            URLError(timedOut: url, after: whole.flatMap { elapsed() >= $0 ? $0 : nil } ?? silence ?? .zero)
        } operation: {
            try await operation()
        }
    }
}
