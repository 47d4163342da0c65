import Testing

@testable import URLConfig

/// Tasks wait here until the gate is opened, even if they are cancelled.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var arrivals = 0
        var cancelled = 0
    }

    private let state = Locked(State())

    /// The number of tasks that have arrived.
    var arrivals: Int { state.withLock { $0.arrivals } }

    /// The number of tasks that were cancelled while they waited.
    var cancelled: Int { state.withLock { $0.cancelled } }

    func pass() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOpen = state.withLock { state in
                    state.arrivals += 1
                    if !state.isOpen { state.waiting.append(continuation) }
                    return state.isOpen
                }
                if isOpen { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.cancelled += 1 }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits until this number of tasks has arrived; otherwise the test fails.
    func waitForArrivals(_ count: Int = 1, sourceLocation: SourceLocation = #_sourceLocation) async {
        try? await waitUntil("arrival \(count)", sourceLocation: sourceLocation) { arrivals >= count }
    }
}
