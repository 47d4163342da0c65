import InMemoryLogging
import Logging
import Testing
import URLConfigTesting

@testable import URLConfig

/// Events over several connections.
@Suite(.inTime) struct EventsTests {
    @Test(
        .stubs {
            $0.inTurn(
                .events("id: 1\ndata: a\n\nid: é✓ a\tb\ndata: b\n\n"), .events(""), .events("\u{FEFF}data: c\n\n"),
                .events("id\n\n"))
        })
    func `each connection begins after the last event of the one before`() async throws {
        let (events, id) = (await stubs.events(), "é✓ a\tb")
        #expect(events.error == nil)
        #expect(events.all == [("a", "1"), ("b", id), ("c", id)].map { .init(data: $0, id: $1) })
        #expect(HTTPStubs.fields("Last-Event-ID") == [nil, id, id, id, nil])
        #expect(Set(HTTPStubs.fields("Accept")) == ["text/event-stream"])
        #expect(Set(HTTPStubs.fields("Cache-Control")) == ["no-store"])
    }

    @Test func `nothing is sent before the loop, and each loop begins anew`() async throws {
        try await FaultServer.serving(.events("id: 1\ndata: a\n\n", then: .hang)) { server in
            let events = server.session.events(for: server.request(), config: .silent, lastEventID: "0")
            _ = events.makeAsyncIterator()
            #expect(server.connections == 0)
            for _ in 0..<2 { for try await _ in events { break } }
            #expect(server.fields("Last-Event-ID") == ["0", "0"])
        }
    }

    @Test(.stubs { $0.inTurn(.events("id: 1\ndata:\n\n")) })
    func `the request's own fields are kept, until an ID arrives`() async throws {
        let request = stubs.request {
            $0.headers[.accept] = "text/event-stream, text/plain"
            $0.headers[.cacheControl] = "no-cache"
            if let name = HTTPField.Name("Last-Event-ID") { $0.headers[name] = "own" }
        }
        _ = await ReceivedEvents(stubs.session.events(for: request, config: .silent), TestClock())
        #expect(HTTPStubs.fields("Last-Event-ID") == ["own", "1"])
        #expect(Set(HTTPStubs.fields("Accept")) == ["text/event-stream, text/plain"])
        #expect(Set(HTTPStubs.fields("Cache-Control")) == ["no-cache"])
    }

    @Test(arguments: ["\u{1}", "a\u{7F}", "   ", " 5", "5 ", "\u{3000}", String(repeating: "1", count: 4097)])
    func `an ID that cannot be a field is not sent`(id: String) async throws {
        try await HTTPStubs.with {
            $0.inTurn(.events("id: 1\ndata:\n\nid: \(id)\ndata:\n\n"), .events("data:\n\n"))
        } operation: {
            let events = await stubs.events(lastEventID: "0")
            #expect(events.error == nil)
            #expect(events.ids == ["1", id, id])
            #expect(HTTPStubs.fields("Last-Event-ID") == ["0", nil, nil])
        }
    }

    @Test func `an ID is compared by its bytes, however long it is`() async throws {
        // As characters, both are equal, and comparing them takes quadratic time.
        let marks = String(repeating: "\u{0315}\u{0327}", count: 100_000)
        let ids = ["\u{E9}", "e\u{301}", "a" + marks, "b" + marks]
        try await HTTPStubs.with { routes in
            for id in ids { routes.any("/*", .events("id: \(id)\ndata:\n\n")).times(1) }
            routes.any("/*", .status(.noContent)).times(1)
        } operation: {
            let events = await stubs.events()
            #expect(events.error == nil)
            let sent = HTTPStubs.fields("Last-Event-ID").map { $0.map { Array($0.utf8) } }
            #expect(sent == [nil, Array(ids[0].utf8), Array(ids[1].utf8), nil, nil])
        }
    }

    @Test func `the end of a model's events is compared by its bytes`() async throws {
        let data = "\"a" + String(repeating: "\u{0315}\u{0327}", count: 200_000) + "\""
        try await HTTPStubs.with {
            $0.get("/", .events("data: \(data)\n\ndata: e\u{301}\n\ndata: \u{E9}\n\n"))
        } operation: {
            let reply = try await stubs.session.stream(for: stubs.request(), config: .silent)
            var values = reply.events.values(of: String.self, until: "\u{E9}").makeAsyncIterator()
            #expect(try await values.next()?.utf8.count == data.utf8.count - 2)
            await #expect(throws: RequestError.self) { try await values.next() }
        }
    }

    @Test func `credentials are not shown by what is read in a loop`() async throws {
        let request = URLRequest.with(.init(host: "https://api.test")) {
            ($0.path, $0.authorization) = ("/?access_token=s3cret", .bearer("s3cret"))
        }
        try await HTTPStubs.with {
            $0.get("/", .events("data: 1\n\n"))
        } operation: {
            let events = URLSession.shared.events(for: request, config: .silent)
            let reply = try await URLSession.shared.stream(for: request, config: .silent)
            let values: [Any] = [
                events, events.makeAsyncIterator(), events.values(of: Int.self),
                events.values(of: Int.self).makeAsyncIterator(), reply.lines, reply.events,
                reply.values(of: Int.self), reply.events.values(of: Int.self), reply.events.makeAsyncIterator(),
            ]
            for value in values {
                var text = "\(value)" + String(reflecting: value)
                dump(value, to: &text)
                #expect(!text.contains("s3cret"), "\(text)")
            }
            #expect("\(events) \(reply.lines)".contains("GET https://api.test/?access_token=***"))
        }
    }

    @Test(.stubs { $0.inTurn() }) func `an ID of the caller injects nothing`() async throws {
        #expect(await stubs.events(lastEventID: "1\r\nX-Injected: 1").error == nil)
        #expect(HTTPStubs.fields("X-Injected") == [nil])
        #expect(HTTPStubs.fields("Last-Event-ID") == [nil])
    }

    @Test(
        .stubs {
            $0.inTurn(.events("id: 1\ndata: a\n\nid: 2\ndata: b\ndata: c\n"), .events("\ndata: d\n\n"))
        })
    func `half an event is discarded, with its ID`() async throws {
        let events = await stubs.events()
        #expect(events.all == [.init(data: "a", id: "1"), .init(data: "d", id: "1")])
        #expect(HTTPStubs.fields("Last-Event-ID") == [nil, "1", "1"])
    }

    @Test(arguments: [FaultServer.Fault.End.reset, .close])
    func `a connection that breaks off in a body is replaced`(end: FaultServer.Fault.End) async throws {
        let hasArrived = DispatchSemaphore(value: 0)
        let breaking = FaultServer.Fault.reading { connection in
            try connection.send(
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            try connection.send("f\r\nid: 1\ndata: a\n\n\r\nff\r\ndata: half\n")
            hasArrived.wait()
            if end == .reset { try connection.reset() }
        }
        try await FaultServer.serving(.inTurn(breaking, .events("data: b\n\n"))) { server in
            let clock = TestClock()
            let mover = clock.moving()
            defer { mover.cancel() }
            var data: [String] = []
            for try await event in server.session.events(
                for: server.request(), config: .silent, { $0.clock = clock })
            {
                data.append(event.data)
                hasArrived.signal()
            }
            #expect(data == ["a", "b"])
            #expect(server.fields("Last-Event-ID") == [nil, "1", "1"])
        }
    }

    @Test func `a connection that is silent for longer than the timeout is replaced`() async throws {
        let silent = FaultServer.Fault { connection in
            let last = try connection.read().field("Last-Event-ID").flatMap { Int($0) } ?? 0
            guard last < 2 else { return try connection.send("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n") }
            try connection.send(FaultServer.Fault.eventsHead + "retry: 0\nid: \(last + 1)\ndata\n\n")
            try connection.waitForEnd()
        }
        try await FaultServer.serving(silent) { server in
            let (clock, ids) = (TestClock(), Recorder<String>())
            let (logger, log) = Logger.recording()
            @Sendable func losses() -> Int {
                log.entries.count { $0.message.description.contains("connecting again") }
            }
            let silence = Task {
                for count in 1...2 {
                    try await waitUntil { ids.count == count }
                    let before = losses()
                    // Time is silence only while the loop waits for bytes, so three steps may be too few. At most one
                    // step falls into the next connection.
                    try await waitUntil {
                        clock.move(by: .seconds(100))
                        return losses() > before
                    }
                }
            }
            let delays = Task { while !Task.isCancelled { clock.move(by: await clock.nextSleep()) } }
            defer {
                silence.cancel()
                delays.cancel()
            }
            // It is long, because Foundation's clock also runs.
            let request = server.request { $0.timeout = .seconds(300) }
            for try await event in server.session.events(
                for: request, config: .silent, { ($0.clock, $0.logger) = (clock, logger) })
            {
                ids.note(event.id)
            }
            #expect(ids.entries == ["1", "2"])
            try await silence.valueInTime
        }
    }

}
