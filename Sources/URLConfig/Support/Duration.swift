extension Duration {
    /// The longest time that is passed to the system, in seconds: about 30 years, far from any overflow.
    private static let maximum = 1e9

    /// A time limit from seconds; `nil` for NaN, zero and less.
    init?(timeoutInterval seconds: TimeInterval) {
        guard seconds > 0 else { return nil }
        self = .seconds(min(seconds, Self.maximum))
    }

    /// The time limit in seconds; `nil` for zero and less.
    var timeoutInterval: TimeInterval? {
        self > .zero ? min(self / .seconds(1), Self.maximum) : nil
    }

    /// This time, or the longest one that is passed to the system.
    var clamped: Duration { min(self, .seconds(Self.maximum)) }

    /// Such as `83 ms` or `1.25 s`.
    var shown: String {
        let milliseconds = max(0, self / .milliseconds(1))
        return milliseconds < 1000
            ? "\(Int(milliseconds.rounded())) ms" : "\((milliseconds / 10).rounded() / 100) s"
    }
}
