import URLConfig

/// One line in a terminal that shows how far a transfer is.
///
/// In a file or a pipe, it prints a line for each tenth of the way.
struct ProgressLine: Sendable {
    private static let width = 40
    private static let isTerminal = isatty(STDOUT_FILENO) == 1

    let title: String
    private let tenths = Tenths()

    init(_ title: String) {
        self.title = title
    }

    func show(_ count: Int64, of total: Int64?) {
        guard let total, total > 0 else { return }
        let share = Double(count) / Double(total)
        guard tenths.advance(to: Int(share * 10)) || Self.isTerminal else { return }
        let filled = Int(share * Double(Self.width))
        let bar = String(repeating: "=", count: filled) + String(repeating: " ", count: Self.width - filled)
        let sizes = "\(count / 1_000_000) of \(total / 1_000_000) MB"
        print("\(Self.isTerminal ? "\r" : "")\(title) [\(bar)] \(sizes)", terminator: Self.isTerminal ? "" : "\n")
        fflush(nil)
    }

    func end() {
        if Self.isTerminal { print() }
    }
}

/// The last tenth that was shown.
///
/// `@unchecked Sendable` is safe because `last` is used only while the lock is held.
private final class Tenths: @unchecked Sendable {
    private let lock = NSLock()
    private var last = -1

    /// Whether the tenth is a new one.
    func advance(to tenth: Int) -> Bool {
        lock.withLock {
            defer { last = max(last, tenth) }
            return tenth > last
        }
    }
}
