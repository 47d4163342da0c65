#if AsyncHTTPClient

import AsyncHTTPClient
import Testing

@testable import URLConfig

/// A body that is read slowly, or not at all.
@Suite(.timeLimit(.minutes(10))) struct AsyncHTTPClientBackPressureTests {
    /// A server whose response does not end, and what happened there.
    private final class Endless: Sendable {
        /// More than all buffers of the system contain.
        static let most = 100_000_000
        private let state = Locked((sent: 0, isOver: false))

        var sent: Int { state.withLock { $0.sent } }
        /// Whether the client has ended the connection.
        var isOver: Bool { state.withLock { $0.isOver } }

        var fault: FaultServer.Fault {
            .init { [state] connection in
                try connection.read()
                try connection.send("HTTP/1.1 200 OK\r\n\r\n")
                let zeros = [UInt8](repeating: UInt8(ascii: "0"), count: 1 << 16)
                do {
                    while true {
                        try connection.send(zeros)
                        state.withLock { $0.sent += zeros.count }
                    }
                } catch {
                    state.set(\.isOver, true)
                    throw error
                }
            }
        }

        /// Waits until nothing was sent for a while, or very much was.
        func waitForStandstill() async throws {
            var (last, since) = (sent, ContinuousClock.now)
            while since.duration(to: .now) < .seconds(1), last < Self.most {
                try await Task.sleep(for: .milliseconds(20))
                if sent != last { (last, since) = (sent, .now) }
            }
        }
    }

    @Test func `an endless body that is read slowly does not grow memory`() async throws {
        let endless = Endless()
        try await FaultServer.serving(endless.fault) { server in
            let body = try await server.open().body.makeAsyncIterator()
            for _ in 0..<3 {
                #expect(try await body.next()?.isEmpty == false)
                try await endless.waitForStandstill()
                #expect(endless.sent < Endless.most / 2)
            }
            #expect(!endless.isOver)
        }
    }

    @Test func `it goes on as soon as the reader does`() async throws {
        let endless = Endless()
        try await FaultServer.serving(endless.fault) { server in
            var count = 0
            for try await piece in try await server.open().body {
                count += piece.count
                if count == piece.count { try await endless.waitForStandstill() }
                if count > Endless.most { break }
            }
            #expect(endless.sent > Endless.most)
            try await waitUntil { endless.isOver }
        }
    }

    @Test func `leaving the loop ends the transfer`() async throws {
        let endless = Endless()
        try await FaultServer.serving(endless.fault) { server in
            let response = try await server.open()
            for try await _ in response.body { break }
            try await waitUntil { endless.isOver }
        }
    }

    @Test func `releasing a response that was never read ends the transfer`() async throws {
        let endless = Endless()
        try await FaultServer.serving(endless.fault) { server in
            let status = try await server.open().status
            #expect(status == .ok)
            try await waitUntil { endless.isOver }
        }
    }

    @Test func `releasing short responses that were never read leaves the client able to work`() async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            // More than the client opens connections.
            for _ in 0..<50 {
                let response = try await server.open()
                #expect(response.status == .ok)
            }
        }
    }

    @Test func `a body that is too long is an error at once, although the server is silent then`() async throws {
        let text = FaultServer.Fault.head(length: 100_000) + String(repeating: "x", count: 2000)
        try await FaultServer.serving(.raw(text, then: .hang)) { server in
            let error = await #expect(throws: RequestError.self) {
                try await server.get(config: .server) {
                    $0.responseLimit = 1000
                    $0.deadline = .seconds(300)
                }
            }
            #expect(error?.code == .responseTooLarge)
        }
    }

    @Test func `a body of many small parts arrives whole`() async throws {
        let text = String((0..<100_000).map { Character(Unicode.Scalar(UInt8(97 + $0 % 26))) })
        let chunks = text.map { "1\r\n\($0)\r\n" }.joined() + "0\r\n\r\n"
        try await FaultServer.serving(.raw(FaultServer.Fault.chunkedHead + chunks)) { server in
            let response = try await server.get(config: .server)
            let isEqual = try response.text() == text
            #expect(isEqual)
        }
    }

    @Test func `cancelling the task while a piece is awaited throws at once`() async throws {
        try await FaultServer.serving(.hangInBody) { server in
            let arrived = Gate()
            arrived.open()
            let reading = Task {
                for try await _ in try await server.open().body { await arrived.pass() }
            }
            await arrived.waitForArrivals()
            reading.cancel()
            await #expect(throws: CancellationError.self) { try await reading.valueInTime }
        }
    }

    @Test func `a body that was read only in part is not complete after cancelling`() async throws {
        try await FaultServer.serving(.hangInBody) { server in
            let arrived = Gate()
            arrived.open()
            let reading = Task {
                let body = try await server.open().body.makeAsyncIterator()
                _ = try await body.next()
                await arrived.pass()
                while !Task.isCancelled { await Task.yield() }
                return try await body.next()
            }
            await arrived.waitForArrivals()
            reading.cancel()
            await #expect(throws: CancellationError.self) { try await reading.valueInTime }
        }
    }

    @Test func `a slow reader is not silence of the server`() async throws {
        let endless = Endless()
        try await FaultServer.serving(endless.fault) { server in
            try await URLSession.impatient(silence: 10) { session in
                let body = try await server.open(in: session).body.makeAsyncIterator()
                for _ in 0..<2 {
                    for _ in 0..<20 { _ = try await body.next() }
                    // Longer than the session's limit.
                    try await Task.sleep(for: .seconds(12))
                }
                let piece = try await body.next()
                #expect(piece?.isEmpty == false)
            }
        }
    }

    @Test func `a server that sends slowly is not silent`() async throws {
        // Together with its head, this takes longer than the session's limit.
        let text = String(repeating: "x", count: 10)
        try await FaultServer.serving(.drip(text, every: .milliseconds(300))) { server in
            try await URLSession.impatient(silence: 10) { session in
                let response = try await session.response(for: server.request(), config: .server)
                #expect(try response.text() == text)
            }
        }
    }
}

#endif
