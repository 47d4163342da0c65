@testable import URLConfig

/// What happened, in order.
final class Recorded<Event: Sendable>: Sendable {
    private let events = Locked<[Event]>([])

    var all: [Event] { events.withLock { $0 } }

    func append(_ event: Event) { events.withLock { $0.append(event) } }
}
