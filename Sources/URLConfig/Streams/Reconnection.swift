/// The delays between the connections of ``ServerSentEvents``.
struct Reconnection: Sendable {
    /// The shortest delay after a connection that ended early without an event.
    static let shortest = Duration.seconds(1)
    /// The shortest delay of all, so that a server cannot make a client connect without a pause.
    static let pause = Duration.milliseconds(100)
    /// The bound for delays that double.
    static let longest = Duration.seconds(30)

    /// The server's reconnection time (WHATWG HTML §9.2.2).
    var time = Duration.seconds(3)
    /// The delay after the last connections, if they ended early without an event; otherwise zero.
    private var backOff = Duration.zero

    /// The delay before the next connection.
    ///
    /// A connection was good if it brought an event, or if it was open for at least as long as the delay before it. So
    /// a quiet stream that a proxy ends each minute is connected again soon; a server that closes at once is not.
    ///
    /// - Parameter jitter: A random number from zero to one.
    mutating func delay(after loss: EventConnection.Loss, jitter: Double) -> Duration {
        let shortest = max(time, Self.shortest)
        let isGood = loss.hasEvents || loss.open >= max(backOff, shortest)
        backOff = isGood ? .zero : min(max(backOff * 2, shortest), max(Self.longest, time))
        let delay = (isGood ? max(time, Self.pause) : backOff) * (1 + jitter / 2)
        return max(delay, loss.retryAfter ?? .zero).clamped
    }
}
