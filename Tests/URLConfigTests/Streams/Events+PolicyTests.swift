import InMemoryLogging
import Logging
import Testing
import URLConfigTesting

@testable import URLConfig

/// What the settings of a call mean for events.
@Suite(.inTime) struct EventsPolicyTests {
    @Test(.stubs { $0.inTurn(.status(.unauthorized), .event, .status(.unauthorized), .event) })
    func `each connection is authorized, and refused credentials are renewed`() async throws {
        let authenticator = CountingAuthenticator()
        let events = await stubs.events { $0.authenticator = authenticator }
        #expect(events.data == ["a", "a"])
        #expect(authenticator.refused == 2)
        #expect(HTTPStubs.fields("Authorization") == ["1", "2", "3", "4", "5"])
    }

    @Test(.stubs { $0.get("/").times(0) })
    func `an authenticator's error is the end, unless it is one of the network or of time`() async throws {
        struct SignedOut: Error {}
        let late = RequestError(.deadlineExceeded, reason: "test")
        let errors = Locked<[any Error]>([SignedOut(), late, URLError(.notConnectedToInternet)])
        let failing = TestAuthenticator { _ in if let error = errors.withLock({ $0.popLast() }) { throw error } }
        let clock = TestClock()
        #expect(await stubs.events(clock: clock) { $0.authenticator = failing }.error is SignedOut)
        #expect(clock.asked.count == 2)
    }

    @Test(.stubs { $0.inTurn(.error(.notConnectedToInternet), .event) })
    func `after a failure, the deadline of a head is off during the pause`() async throws {
        let clock = TestClock()
        let first = Task {
            var events = URLSession.shared.events(for: stubs.request("/")) {
                ($0.clock, $0.deadline) = (clock, .seconds(1))
            }.makeAsyncIterator()
            return try await events.next()
        }
        #expect(await clock.nextSleep() > .seconds(1))
        #expect(clock.sleepers == 1)
        await clock.run()
        #expect(try await first.valueInTime?.data == "a")
    }

    @Test(
        .stubs {
            let redirect = HTTPStubs.Response.redirect(to: "/there", status: .temporaryRedirect)
            $0.inTurn(redirect, .events("id: 1\ndata: a\n\n"), redirect, .event)
        })
    func `redirects are followed for each connection, from the request's URL`() async throws {
        #expect(await stubs.events("/here").data == ["a", "a"])
        #expect(HTTPStubs.requests.map { $0.url.path() } == ["/here", "/there", "/here", "/there", "/here"])
        #expect(HTTPStubs.fields("Last-Event-ID") == [nil, nil, "1", "1", "1"])
    }

    private static let home = HTTPStubs.Response.events("id: home\ndata: a\n\n")
    private static let there = HTTPStubs.Response.redirect(to: "https://other.test/", status: .temporaryRedirect)

    /// The hosts of all requests, with the IDs that they had.
    private var sent: [String] {
        zip(HTTPStubs.requests, HTTPStubs.fields("Last-Event-ID")).map { "\($0.url.host() ?? "") \($1 ?? "-")" }
    }

    @Test(
        .stubs {
            $0.inTurn(there, there, home, there, home)
            $0.inTurn(
                .events("id: away\ndata: b\n\n"), .events("data: b\n\n"), .events("id\ndata: b\n\n"),
                at: "https://other.test/")
        })
    func `an ID is sent only to the origin that it came from`() async throws {
        let events = await stubs.events(lastEventID: "first")
        #expect(events.error == nil)
        #expect(events.data == ["b", "b", "a", "b", "a"])
        #expect(events.ids == ["away", "away", "home", "", "home"])
        #expect(
            sent == [
                "api.test first", "other.test -", "api.test -", "other.test away", "api.test -", "api.test home",
                "other.test -", "api.test -", "api.test home",
            ])
    }

    @Test(
        .stubs {
            $0.inTurn(home, there)
            $0.inTurn(.events("data: b\n\n"), at: "https://other.test/")
        })
    func `an ID is not sent to an origin that has sent none`() async throws {
        #expect(await stubs.events().data == ["a", "b"])
        #expect(sent == ["api.test -", "api.test home", "other.test -", "api.test home"])
    }

    @Test(.stubs { $0.inTurn(.error(.networkConnectionLost), .events("data: 0123456789\n\n")) })
    func `the limit of a body and a fallback are not used`() async throws {
        let events = await stubs.events { config in
            config.responseLimit = 5
            config.fallback = { DataResponse(request: $1) }
        }
        #expect(events.data == ["0123456789"])
        #expect(events.error == nil)
    }

    @Test func `the deadline is for each head, not for the body`() async throws {
        let goOn = DispatchSemaphore(value: 0)
        let slow = FaultServer.Fault.reading { connection in
            try connection.send(FaultServer.Fault.eventsHead + "data: a\n\n")
            goOn.wait()
            try connection.send("data: b\n\n")
        }
        try await FaultServer.serving(.inTurn(.hangBeforeHead, slow)) { server in
            let clock = TestClock()
            var events = server.session.events(for: server.request(), config: .silent) {
                ($0.clock, $0.deadline) = (clock, .seconds(1000))
            }.makeAsyncIterator()
            let mover = Task {
                // The deadline, and then the delay.
                try await waitUntil { server.requests.count == 1 && clock.sleepers == 1 }
                clock.move(by: .seconds(1000))
                try await waitUntil { clock.asked.count == 2 && clock.sleepers == 1 }
                clock.move(by: .seconds(5))
            }
            let first = try await events.next()
            #expect(first?.data == "a")
            try await mover.valueInTime
            clock.move(by: .seconds(2000))
            goOn.signal()
            let second = try await events.next()
            #expect(second?.data == "b")
            #expect(server.requests.count == 2)
        }
    }

    @Test(
        .stubs {
            $0.inTurn(
                .error(.timedOut), .error(.timedOut), .status(.serviceUnavailable), .event, .event,
                .status(.badGateway), .error(.timedOut), .status(.notFound))
        })
    func `of failed connections in a row, the first is an error in the log, and so is the end`() async throws {
        let (logger, log) = Logger.recording()
        let accepted = Recorder<HTTPResponse.Status>()
        _ = await stubs.events {
            $0.logger = logger
            $0.events = { if case .accepted(let status) = $0.kind { accepted.note(status) } }
        }
        #expect(
            log.entries.map { $0.message.description.prefix(1) } == [
                "🛫", "💥", "🔁", "🛫", "🔁", "🛫", "🛬", "🔁", "🛫", "🛬", "🏁", "🔁", "🛫", "🛬", "🏁", "🔁",
                "🛫", "🛬", "💥", "🔁", "🛫", "🔁", "🛫", "🛬", "💥",
            ])
        let errors = log.entries.filter { $0.level > .debug }
        #expect(errors.map { $0.metadata["status"] } == [nil, "502", "404"])
        #expect(errors.allSatisfy { $0.level == .error && $0.metadata["error"] != nil })
        #expect(log.text.contains("🔁 connecting again after "))
        try await waitUntil { accepted.entries.count >= 3 }
        // The validators were not asked about the transient failures.
        #expect(accepted.entries == [.ok, .ok, .notFound])
    }
}
