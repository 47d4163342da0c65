extension Duration {
    /// Longest time that is handed to the system, in seconds: some 30 years, and far from any overflow.
    private static let longest = 1e9

    /// A time limit from seconds; `nil` for one that limits nothing: NaN, zero or less.
    init?(timeoutInterval seconds: TimeInterval) {
        guard seconds > 0 else { return nil }
        self = .seconds(min(seconds, Self.longest))
    }

    /// The limit in seconds; `nil` for one that limits nothing.
    var timeoutInterval: TimeInterval? {
        self > .zero ? min(self / .seconds(1), Self.longest) : nil
    }

    /// This time, but no longer than the system can count.
    var clamped: Duration { min(self, .seconds(Self.longest)) }
}
