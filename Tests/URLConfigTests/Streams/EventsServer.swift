import URLConfigTesting

@testable import URLConfig

extension FaultServer.Fault {
    static let eventsHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"

    /// Sends a stream of events.
    static func events(_ text: String = "", then end: End = .close) -> Self { raw(eventsHead + text, then: end) }

    /// Sends a response without events, such as `503 Down` with more fields.
    static func status(_ line: String, _ fields: String = "", _ content: String = "") -> Self {
        raw(
            "HTTP/1.1 \(line)\r\n\(fields)Connection: close\r\nContent-Length: \(content.utf8.count)\r\n\r\n\(content)")
    }

    /// Sends a head, and then the same text many times, and waits until the client closes.
    static func endless(_ head: String, _ text: String, onEnd: @escaping @Sendable () -> Void) -> Self {
        Self { connection in
            try connection.read()
            defer { onEnd() }
            try connection.send(head)
            for _ in 0..<100_000 { try connection.send(text) }
            try connection.waitForEnd()
        }
    }

    /// Serves each connection with the next of these, and ends the events after them.
    static func inTurn(_ faults: Self...) -> Self { inTurn(faults) }

    static func inTurn(_ faults: [Self]) -> Self {
        let end = Self { connection in
            try connection.read()
            try connection.send("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
        }
        return Self { try ($0.index < faults.count ? faults[$0.index] : end).run($0) }
    }
}

extension HTTPStubs.Response {
    /// Events, or parts of them, as they are sent.
    static func events(_ text: String) -> Self { .data(Data(text.utf8), contentType: "text/event-stream") }

    static let event = events("data: a\n\n")
}

extension HTTPStubs.Routes {
    /// Sends each response once, in order; then the events end.
    func inTurn(_ responses: HTTPStubs.Response..., at template: String = "https://api.test/*") {
        for response in responses { any(template, response).times(1) }
        any(template, .status(.noContent)).times(0...1)
    }
}

extension TestServer {
    /// The events of the server, and how their loop ended.
    func events(
        _ path: URLRequest.Path? = nil, clock: TestClock = TestClock(), lastEventID: String? = nil,
        isolation: isolated (any Actor)? = #isolation, _ configure: (inout URLSession.Config) -> Void = { _ in }
    ) async -> ReceivedEvents {
        await ReceivedEvents(
            session.events(for: request(path), config: .silent, lastEventID: lastEventID) {
                $0.clock = clock
                configure(&$0)
            }, clock)
    }
}

extension FaultServer {
    /// The values of a field of all requests.
    func fields(_ name: String) -> [String?] { requests.map { $0.field(name) } }
}

/// The events of a loop, and its error.
struct ReceivedEvents {
    let all: [ServerSentEvent]
    let error: (any Error)?
    var data: [String] { all.map(\.data) }
    var ids: [String] { all.map(\.id) }
    var code: RequestError.Code? { (error as? RequestError)?.code }

    /// Reads all events, while the clock moves whenever something waits for it.
    init(
        _ events: ServerSentEvents, _ clock: TestClock, isolation: isolated (any Actor)? = #isolation
    ) async {
        let mover = clock.moving()
        defer { mover.cancel() }
        (all, error) = await events.outcome
    }
}

extension TestClock {
    /// Moves the clock past every delay, until the task is cancelled.
    func moving() -> Task<Void, Never> {
        Task {
            while !Task.isCancelled {
                if sleepers > 0 { move(by: .seconds(1_000_000)) }
                // Many of them run at once, and a loop that never sleeps would slow down other tests.
                try? await Task.sleep(for: .milliseconds(1))
            }
        }
    }
}
