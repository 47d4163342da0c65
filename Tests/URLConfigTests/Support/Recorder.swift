@testable import URLConfig

/// Records what happens in closures that run anywhere.
final class Recorder<Entry: Sendable>: Sendable {
    private let state = Locked<[Entry]>([])

    /// What was recorded, in order.
    var entries: [Entry] { state.withLock { $0 } }
    var count: Int { state.withLock { $0.count } }

    /// - Returns: The number of entries, with this one.
    @discardableResult
    func note(_ entry: Entry) -> Int {
        state.withLock { entries in
            entries.append(entry)
            return entries.count
        }
    }
}
