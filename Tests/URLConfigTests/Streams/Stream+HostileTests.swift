import Testing
import URLConfigTesting

@testable import URLConfig

/// Streams whose server does not end a body, or ends it too early.
@Suite(.inTime) struct StreamHostileTests {
    @Test(arguments: ["100 Continue", "102 Processing", "103 Early Hints"])
    func `an interim response is not the response`(status: String) async throws {
        let late = FaultServer.Fault.reading { connection in
            try connection.send("HTTP/1.1 \(status)\r\nX-Interim: 1\r\n\r\n")
            // Time in which a client could take it for the response.
            try connection.pause(.milliseconds(300))
            try connection.send(FaultServer.Fault.answer("{}"))
            try connection.waitForEnd()
        }
        try await FaultServer.serving(late) { server in
            let response = try await server.stream()
            #expect(response.head.status == .ok)
            #expect(try response.head.headerFields[#require(.init("X-Interim"))] == nil)
            #expect(try await response.collect(upTo: 10).text() == "{}")
        }
    }

    @Test func `an interim response is not the response if the connection then ends`() async throws {
        let ended = FaultServer.Fault.raw("HTTP/1.1 103 Early Hints\r\nX-Interim: 1\r\n\r\n")
        try await FaultServer.serving(.first(1, ended, then: .ok("{}"))) { server in
            let response = try await server.stream {
                $0.retry = RetryPolicy(attempts: 2)
                $0.retry.firstDelay = .zero
            }
            #expect(response.head.status == .ok)
            #expect(response.head.attempts.count == 2)
            #expect((response.head.attempts.first?.error as? URLError)?.code == .networkConnectionLost)
        }
    }

    @Test func `while a retry waits, the connection of the failure is closed`() async throws {
        let isOver = Locked(false)
        let failure = FaultServer.Fault.endless("HTTP/1.1 503 Busy\r\n\r\n", "x") { isOver.set(\.self, true) }
        try await FaultServer.serving(failure) { server in
            // Its clock stands still.
            let call = Task {
                try await server.stream {
                    $0.clock = TestClock()
                    $0.retry = RetryPolicy(attempts: 2)
                    $0.retry.isBudgeted = false
                }
            }
            defer { call.cancel() }
            try await waitUntil { isOver.withLock { $0 } }
            #expect(server.requests.count == 1)
            await call.expectCancelled()
        }
    }

    @Test func `a renewal can use the only connection, which an unfinished refusal had`() async throws {
        try await FaultServer.serving(.first(1, then: "401 Unauthorized")) { server in
            try await URLSession.with {
                $0.httpMaximumConnectionsPerHost = 1
            } _: { session in
                let response = try await session.stream(for: server.request(), config: .silent) {
                    $0.authenticator = TestAuthenticator { _ in
                    } reauthorize: { _ in
                        try await session.response(for: server.request("/token"), config: .silent).isSuccess
                    }
                    $0.deadline = .seconds(300)
                }
                #expect(try await response.collect(upTo: 10).text() == "ok")
                #expect(response.head.attempts.count == 2)
            }
        }
    }

    @Test func `a stream that nobody reads is ended at its deadline`() async throws {
        let (body, clock) = (EndlessBody(), TestClock())
        try await FaultServer.serving(body.fault) { server in
            let response = try await server.stream {
                $0.clock = clock
                $0.deadline = .seconds(5)
            }
            try await waitUntil {
                clock.move(by: .seconds(5))
                return body.isOver
            }
            await expectError(.deadlineExceeded) { try await response.collect(upTo: 10) }
        }
    }

    @Test func `the explanation of a failure may take ten seconds`() async throws {
        let clock = TestClock()
        let dripping = FaultServer.Fault.reading { connection in
            try connection.send("HTTP/1.1 404 Not Found\r\n\r\n")
            while true {
                try connection.send("x")
                try connection.pause(.milliseconds(20))
            }
        }
        try await FaultServer.serving(dripping) { server in
            let call = Task { try await server.stream { $0.clock = clock } }
            try await waitUntil { clock.asked.contains(.seconds(10)) }
            clock.move(by: .seconds(10))
            let response = try await call.valueInTime
            #expect(response.head.status == .notFound)
            await expectError(.timedOut) { try await response.collect(upTo: 1_000_000) }
        }
    }

    @Test func `an unfinished line is no line`() async throws {
        let unfinished = FaultServer.Fault.raw(FaultServer.Fault.head(length: 100) + "1\n23")
        try await FaultServer.serving(unfinished) { server in
            var lines = try await server.stream().lines.makeAsyncIterator()
            #expect(try await lines.next() == "1")
            await #expect(throws: URLError.self) { _ = try await lines.next() }
            #expect(try await lines.next() == nil)
            var values = try await server.stream().values(of: Int.self).makeAsyncIterator()
            #expect(try await values.next() == 1)
            await #expect(throws: URLError.self) { _ = try await values.next() }
            #expect(try await values.next() == nil)
        }
    }

    @Test func `a cancelled loop gets no more lines, although they have arrived`() async throws {
        try await FaultServer.serving(.ok(String(repeating: "a\n", count: 10_000))) { server in
            let lines = Recorder<String>()
            let loop = Task {
                for try await line in try await server.stream().lines {
                    let count = lines.note(line)
                    if count == 10 { withUnsafeCurrentTask { $0?.cancel() } }
                }
            }
            await #expect(throws: CancellationError.self) { try await loop.valueInTime }
            #expect(lines.count == 10)
        }
    }

    @Test func `a loop that has ended stays ended if its task is then cancelled`() async throws {
        let task = Task {
            let response = try await stubs.session.stream(for: stubs.request(), config: .silent) {
                $0.transport = Transport { _ in .init(body: .init(Data("a\n".utf8))) }
            }
            var lines = response.lines.makeAsyncIterator()
            #expect(try await lines.next() == "a")
            #expect(try await lines.next() == nil)
            withUnsafeCurrentTask { $0?.cancel() }
            return try await lines.next()
        }
        #expect(try await task.valueInTime == nil)
    }
}
