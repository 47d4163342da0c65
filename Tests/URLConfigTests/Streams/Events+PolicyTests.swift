import InMemoryLogging
import Logging
import Testing

@testable import URLConfig

/// What the settings of a call mean for events.
@Suite(.timeLimit(.minutes(10))) struct EventsPolicyTests {
    private static let event = FaultServer.Fault.events("data: a\n\n")

    @Test func `each connection is authorized, and refused credentials are renewed`() async throws {
        let refusal = FaultServer.Fault.status("401 Who")
        try await FaultServer.serving(.inTurn(refusal, Self.event, refusal, Self.event)) { server in
            let authenticator = CountingAuthenticator()
            let events = await server.events { $0.authenticator = authenticator }
            #expect(events.data == ["a", "a"])
            #expect(authenticator.refused == 2)
            #expect(server.fields("Authorization") == ["1", "2", "3", "4", "5"])
        }
    }

    @Test func `an authenticator's error is the end, unless it is one of the network or of time`() async throws {
        struct Failing: Authenticator {
            let errors: Locked<[any Error]>
            func authorize(_ request: inout URLRequest) async throws {
                if let error = errors.withLock({ $0.popLast() }) { throw error }
            }
        }
        struct SignedOut: Error {}
        try await FaultServer.serving(Self.event) { server in
            let late = RequestError(.deadlineExceeded, reason: "test")
            let failing = Failing(errors: Locked([SignedOut(), late, URLError(.notConnectedToInternet)]))
            let clock = TestClock()
            #expect(await server.events(clock: clock) { $0.authenticator = failing }.error is SignedOut)
            #expect(clock.asked.count == 2)
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `redirects are followed for each connection, from the request's URL`() async throws {
        let redirect = FaultServer.Fault.status("307 There", "Location: /there\r\n")
        let fault = FaultServer.Fault.inTurn(redirect, .events("id: 1\ndata: a\n\n"), redirect, Self.event)
        try await FaultServer.serving(fault) { server in
            #expect(await server.events("/here").data == ["a", "a"])
            #expect(
                server.requests.map { $0.head.split(separator: " ")[1] } == [
                    "/here", "/there", "/here", "/there", "/here",
                ])
            #expect(server.fields("Last-Event-ID") == [nil, nil, "1", "1", "1"])
        }
        try await FaultServer.serving(.status("302 Found", "Location: ftp://h.invalid/\r\n")) { server in
            #expect(await server.events().code == .refusedRedirect)
            #expect(server.requests.count == 1)
        }
    }

    @Test func `an ID is sent only to the origin that it came from`() async throws {
        let home = FaultServer.Fault.events("id: home\ndata: a\n\n")
        let away = FaultServer.Fault.events("id: away\ndata: b\n\n")
        let fault = FaultServer.Fault.inTurn(away, .events("data: b\n\n"), .events("id\ndata: b\n\n"))
        try await FaultServer.serving(fault) { other in
            let there = FaultServer.Fault.status("307 There", "Location: \(other.host)/there\r\n")
            try await FaultServer.serving(.inTurn(there, there, home, there, home)) { server in
                let events = await server.events(lastEventID: "first")
                #expect(events.error == nil)
                #expect(events.data == ["b", "b", "a", "b", "a"])
                #expect(events.ids == ["away", "away", "home", "", "home"])
                #expect(server.fields("Last-Event-ID") == ["first", nil, nil, "home", nil, "home"])
                #expect(other.fields("Last-Event-ID") == [nil, "away", nil])
            }
        }
        // The other origin sends no ID of its own.
        try await FaultServer.serving(.events("data: b\n\n")) { other in
            let there = FaultServer.Fault.status("307 There", "Location: \(other.host)/there\r\n")
            try await FaultServer.serving(.inTurn(home, there)) { server in
                #expect(await server.events().data == ["a", "b"])
                #expect(server.fields("Last-Event-ID") == [nil, "home", "home"])
                #expect(other.fields("Last-Event-ID") == [nil])
            }
        }
    }

    @Test func `the limit of a body and a fallback are not used`() async throws {
        try await FaultServer.serving(.inTurn(.empty, .events("data: 0123456789\n\n"))) { server in
            let events = await server.events { config in
                config.responseLimit = 5
                config.fallback = { DataResponse(request: $1) }
            }
            #expect(events.data == ["0123456789"])
            #expect(events.error == nil)
        }
    }

    @Test func `the deadline is for each head, not for the body`() async throws {
        let goOn = DispatchSemaphore(value: 0)
        let slow = FaultServer.Fault { connection in
            try connection.read()
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
                clock.advance(by: .seconds(1000))
                try await waitUntil { clock.asked.count == 2 && clock.sleepers == 1 }
                clock.advance(by: .seconds(5))
            }
            let first = try await events.next()
            #expect(first?.data == "a")
            try await mover.value
            clock.advance(by: .seconds(2000))
            goOn.signal()
            let second = try await events.next()
            #expect(second?.data == "b")
            #expect(server.requests.count == 2)
        }
    }

    @Test func `a deadline that has passed at once is the end`() async throws {
        try await FaultServer.serving(Self.event) { server in
            #expect(await server.events { $0.deadline = .zero }.code == .deadlineExceeded)
            #expect(server.connections == 0)
        }
    }

    @Test func `failures are errors in the log only if they are the end`() async throws {
        let (logger, log) = Logger.recording()
        let fault = FaultServer.Fault.inTurn(.empty, .status("503 Down"), Self.event, .status("404 Gone"))
        try await FaultServer.serving(fault) { server in
            _ = await server.events { $0.logger = logger }
        }
        #expect(
            log.entries.map { $0.message.description.prefix(1) } == [
                "🛫", "🔁", "🛫", "🛬", "🔁", "🛫", "🛬", "🏁", "🔁", "🛫", "🛬", "💥",
            ])
        #expect(log.entries.filter { $0.level > .debug }.map { $0.metadata["status"] } == ["404"])
        #expect(log.text.contains("🔁 connecting again after "))
    }
}
