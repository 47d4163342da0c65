import Testing
import URLConfigTesting

@testable import URLConfig

/// What ends the events, and what does not.
@Suite(.inTime) struct EventsEndTests {
    @Test(.stubs { $0.get("/", .status(.noContent)).times(1) }) func `204 ends the events, for good`() async throws {
        var events = stubs.session.events(for: stubs.request(), config: .silent).makeAsyncIterator()
        for _ in 0..<2 {
            let event = try await events.next()
            #expect(event == nil)
        }
    }

    @Test(arguments: ["Content-Type: text/html\r\n", "Content-Type: text/event-streams\r\n", ""])
    func `another content type is an error, while its body still arrives`(field: String) async throws {
        let isOver = Locked(false)
        let fault = FaultServer.Fault.endless("HTTP/1.1 200 OK\r\n\(field)\r\n", "data: a\n\n") {
            isOver.set(\.self, true)
        }
        try await FaultServer.serving(fault) { server in
            let events = await server.events()
            #expect(events.code == .unacceptableContentType)
            #expect((events.error as? RequestError)?.attempts.count == 1)
            try await waitUntil { isOver.withLock { $0 } }
            #expect(server.requests.count == 1)
        }
    }

    @Test(arguments: ["404 Gone", "201 Created", "206 Partial", "304 Same", "400 Bad", "501 No", "401 Who"])
    func `another status is an error, with the content of a failure`(status: String) async throws {
        let hasContent = status.hasPrefix("4")
        let refusing = FaultServer.Fault.status(
            status, "Content-Type: text/event-stream\r\n", hasContent ? "data: x\n\n" : "")
        try await FaultServer.serving(refusing) { server in
            var events = server.session.events(for: server.request(), config: .silent).makeAsyncIterator()
            let error = await expectError(.unacceptableStatus) { try await events.next() }
            #expect(error?.response?.data == Data((hasContent ? "data: x\n\n" : "").utf8))
            let event = try await events.next()
            #expect(event == nil)
            #expect(server.requests.count == 1)
        }
    }

    @Test(arguments: ["408 A", "429 B", "500 C", "502 D", "503 E", "504 F"])
    func `a transient status is not the end, and its content is not waited for`(status: String) async throws {
        let hanging = FaultServer.Fault.raw("HTTP/1.1 \(status)\r\nContent-Length: 100\r\n\r\nbeginning", then: .hang)
        try await FaultServer.serving(.inTurn(hanging, .events("data: a\n\n"))) { server in
            let events = await server.events { $0.validators = [.success] }
            #expect(events.data == ["a"])
            #expect(events.error == nil)
        }
    }

    @Test(.stubs { $0.get("/", .status(.notFound), .status(.serviceUnavailable)) })
    func `the policy says what is transient`() async throws {
        let events = await stubs.events { $0.retry.statuses = [404] }
        #expect((events.error as? RequestError)?.response?.status == .serviceUnavailable)
    }

    @Test(arguments: [FaultServer.Fault.empty, .reset])
    func `an error of the network is not the end`(fault: FaultServer.Fault) async throws {
        try await FaultServer.serving(.inTurn(fault, .events("data: a\n\n"), fault, fault)) { server in
            let events = await server.events()
            #expect(events.data == ["a"])
            #expect(events.error == nil)
        }
    }

    @Test func `a server that cannot be reached is tried again, even at first`() async throws {
        let clock = TestClock()
        let task = Task {
            let request = URLRequest.with(.init(host: "http://127.0.0.1:1"))
            for try await _ in URLSession.shared.events(for: request, config: .silent, { $0.clock = clock }) {}
        }
        let mover = clock.moving()
        defer { mover.cancel() }
        try await waitUntil { clock.asked.count >= 3 }
        await task.expectCancelled()
    }

    @Test(
        .stubs {
            $0.get("/", .error(.serverCertificateUntrusted), .redirect(to: "ftp://h.invalid/"), .event).times(3)
        })
    func `other errors of a call are the end`() async throws {
        struct Refusal: Error {}
        #expect((await stubs.events().error as? URLError)?.code == .serverCertificateUntrusted)
        #expect(await stubs.events().code == .refusedRedirect)
        #expect(await stubs.events { $0.validators = [ResponseValidator { _ in throw Refusal() }] }.error is Refusal)
        #expect(await stubs.events { $0.deadline = .zero }.code == .deadlineExceeded)
        let request = URLRequest.with(.init(host: "ftp://h.invalid")) { $0.method = .post }
        let error = await ReceivedEvents(URLSession.shared.events(for: request, config: .silent), TestClock()).error
        #expect((error as? RequestError)?.code == .invalidURL)
    }

    @Test(.stubs { $0.inTurn(.event) }) func `only a request that may be repeated is sent`() async throws {
        for key in [nil, IdempotencyKey.automatic] {
            let request = stubs.request {
                ($0.method, $0.idempotencyKey) = (.post, key)
                $0.body["a"] = 1
            }
            let received = await ReceivedEvents(URLSession.shared.events(for: request, config: .silent), TestClock())
            #expect(received.code == (key == nil ? .invalidRequest : nil))
            #expect(received.data == (key == nil ? [] : ["a"]))
        }
        #expect(HTTPStubs.bodies == [#"{"a":1}"#, #"{"a":1}"#])
    }

    @Test func `an event that is too long is the end`() async throws {
        let long = FaultServer.Fault.reading { connection in
            try connection.send(FaultServer.Fault.eventsHead + "data: a\n\ndata: ")
            let bytes = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
            for _ in 0..<20 { try connection.send(bytes) }
            try connection.waitForEnd()
        }
        try await FaultServer.serving(long) { server in
            let events = await server.events()
            #expect(events.data == ["a"])
            #expect(events.code == .responseTooLarge)
            #expect((events.error as? RequestError)?.response?.status == .ok)
            #expect(server.requests.count == 1)
        }
    }

    // The end of a loop by its task or by itself.

    /// Begins a loop in a task, cancels it when the condition is true, and expects the error of that.
    private func cancelling(
        _ server: FaultServer, _ clock: TestClock = TestClock(), when condition: (Int) -> Bool,
        isolation: isolated (any Actor)? = #isolation
    ) async throws {
        let count = Locked(0)
        let task = Task {
            for try await _ in server.session.events(for: server.request(), config: .silent, { $0.clock = clock }) {
                count.withLock { $0 += 1 }
            }
        }
        try await waitUntil { condition(count.withLock { $0 }) }
        await task.expectCancelled()
    }

    @Test func `cancelled before the head, in the body, and while it waits`() async throws {
        let clock = TestClock()
        let faults: [(FaultServer.Fault, events: Int, sleepers: Int)] = [
            (.hangBeforeHead, 0, 0), (.events("data: a\n\n", then: .hang), 1, 0), (.events("data: a\n\n"), 1, 1),
        ]
        for (fault, events, sleepers) in faults {
            try await FaultServer.serving(fault) { server in
                try await cancelling(server, clock) { count in
                    !server.requests.isEmpty && count == events && clock.sleepers == sleepers
                }
                #expect(server.requests.count == 1)
                #expect(clock.sleepers == 0)
            }
        }
    }

    @Test func `cancelled while the authenticator works`() async throws {
        let gate = Gate()
        try await FaultServer.serving(.events()) { server in
            let task = Task { await server.events { $0.authenticator = TestAuthenticator { _ in await gate.pass() } } }
            await gate.waitForArrivals()
            task.cancel()
            gate.open()
            #expect(await task.value.error is CancellationError)
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `a cancelled loop receives no event that has arrived`() async throws {
        try await FaultServer.serving(.events(String(repeating: "data: a\n\n", count: 100), then: .hang)) { server in
            let count = Locked(0)
            let task = Task {
                for try await _ in server.session.events(for: server.request(), config: .silent) {
                    count.withLock { $0 += 1 }
                    withUnsafeCurrentTask { $0?.cancel() }
                }
            }
            await #expect(throws: CancellationError.self) { try await task.valueInTime }
            #expect(count.withLock { $0 } == 1)
        }
    }

    @Test func `leaving the loop ends the transfer, although the sequence is kept`() async throws {
        let ends = Locked(0)
        let endless = FaultServer.Fault.endless(FaultServer.Fault.eventsHead, "data: a\n\n") {
            ends.withLock { $0 += 1 }
        }
        try await FaultServer.serving(endless) { server in
            let events = server.session.events(for: server.request(), config: .silent)
            for try await _ in events { break }
            try await waitUntil { ends.withLock { $0 } == 1 }
            struct Stop: Error {}
            await #expect(throws: Stop.self) { for try await _ in events { throw Stop() } }
            try await waitUntil { ends.withLock { $0 } == 2 }
        }
    }

    @Test func `the transfer of a lost connection is over before the delay`() async throws {
        let isOver = Locked(false)
        let endless = FaultServer.Fault.endless("HTTP/1.1 503 Down\r\n\r\n", "x") { isOver.set(\.self, true) }
        try await FaultServer.serving(endless) { server in
            let clock = TestClock()
            try await cancelling(server, clock) { _ in clock.sleepers == 1 && isOver.withLock { $0 } }
        }
    }
}
