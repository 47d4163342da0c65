/// Passes events to a closure of the app, one at a time and never on the threads of a call.
///
/// Each call's events are in order. To wake a thread costs more than all events of a call. So the events of 10 ms are
/// passed together.
final class EventSink: Sendable {
    /// The most events that wait for the closure, and the most bytes of requests and of responses in errors meanwhile.
    ///
    /// Further events are dropped, so that a closure that blocks does not fill the memory.
    private static let (mostEvents, mostBytes) = (1 << 16, 1 << 26)

    private struct Waiting {
        var events: [CallEvent] = []
        var bytes = 0
        /// The bodies that were counted.
        var bodies: Set<CallEvent.Body> = []

        mutating func append(_ event: CallEvent, _ kept: [CallEvent.Body]) {
            events.append(event)
            for body in kept where bodies.insert(body).inserted { bytes += body.size }
        }
    }

    let receive: @Sendable (CallEvent) -> Void
    private let waiting = Locked(Waiting())
    private let queue = DispatchQueue(label: "URLConfig.events", qos: .utility)

    init(_ receive: @escaping @Sendable (CallEvent) -> Void) {
        self.receive = receive
    }

    /// Passes an event, soon.
    func pass(_ event: CallEvent) {
        let kept = event.bodies
        let isFirst = waiting.withLock { waiting in
            guard waiting.events.count < Self.mostEvents, waiting.bytes <= Self.mostBytes else { return false }
            waiting.append(event, kept)
            return waiting.events.count == 1
        }
        if isFirst { queue.asyncAfter(deadline: .now() + .milliseconds(10)) { self.passAll() } }
    }

    private func passAll() {
        let events = waiting.withLock { waiting in
            defer { waiting = Waiting() }
            return waiting.events
        }
        for event in events { receive(event) }
    }
}

extension CallEvent {
    /// A body in memory, which several events of a call may keep.
    struct Body: Hashable {
        let callID: Int
        let address: UInt
        let size: Int
    }

    /// The bodies that this event keeps in memory.
    fileprivate var bodies: [Body] {
        let content: Data? =
            switch happening {
            case .began: request.httpBody
            case .failed(let error), .bodyFailed(let error), .unfinished(let error), .attempted(.failure(let error), _),
                .ended(.failure(let error)):
                Self.content(in: error)
            default: nil
            }
        var all = content.map { [$0] } ?? []
        if case .ended = happening { all += knownBodies }
        return all.map { body in
            body.withUnsafeBytes { Body(callID: callID, address: UInt(bitPattern: $0.baseAddress), size: $0.count) }
        }
    }

    /// The content of a response in an error, or in the one that has led to it.
    private static func content(in error: (any Error)?) -> Data? {
        switch error {
        case let problem as Problem: problem.response?.data
        case let error as RequestError: error.response?.data ?? content(in: error.underlyingError)
        default: nil
        }
    }
}
