import Testing

@testable import URLConfig

/// One request and its response, without a network.
@Suite(.timeLimit(.minutes(10))) struct ExchangeTests {
    private func exchange(_ clock: any Clock<Duration> = ContinuousClock()) -> Exchange {
        let config = URLSession.Config().with { $0.clock = clock }
        return Exchange(
            .init(
                urlRequest: .with(.init(host: "http://h.invalid")), session: .shared, allowsSessionCredentials: true,
                call: Call(config), credential: nil))
    }

    // Many times, to find a race between an alarm that fires and the exchange that stores it.
    @Test func `silence is counted from the last bytes`() async throws {
        for _ in 0..<100 {
            let clock = TestClock()
            let exchange = exchange(clock)
            exchange.finish(afterSilenceOf: .seconds(3))
            await clock.waitForSleepers()
            clock.advance(by: .seconds(1))
            for _ in 0..<5 {
                await clock.waitForSleepers()
                clock.advance(by: .seconds(1))
                exchange.move()
                clock.advance(by: .seconds(1))
            }
            await clock.waitForSleepers()
            clock.advance(by: .seconds(2))
            let error = await #expect(throws: URLError.self) { try await exchange.piece() }
            #expect(error?.code == .timedOut)
            #expect(clock.asked == [3, 2, 2, 2, 2, 2].map(Duration.seconds))
        }
    }

    @Test func `one that is over begins no task`() async throws {
        let exchange = exchange()
        exchange.finish(throwing: URLError(.timedOut))
        exchange.begin {
            Issue.record("a task was made")
            return URLSession.shared.dataTask(with: URLRequest.with(.init(host: "http://h.invalid")))
        }
        await #expect(throws: URLError.self) { try await exchange.piece() }
    }

    @Test func `a task that is no longer wanted when it has been made does not begin`() async throws {
        let exchange = exchange()
        let task = URLSession(configuration: .ephemeral).dataTask(with: .with(.init(host: "http://h.invalid")))
        exchange.begin {
            exchange.finish(throwing: URLError(.timedOut))
            return task
        }
        #expect([.canceling, .completed].contains(task.state))
        await #expect(throws: URLError.self) { try await exchange.piece() }
    }

    @Test func `all who wait for bytes learn of the end`() async throws {
        for _ in 0..<2_000 {
            let exchange = exchange()
            let readers = (0..<3).map { _ in
                Task { try await exchange.piece() }
            }
            exchange.finish(throwing: URLError(.timedOut))
            for reader in readers { await #expect(throws: URLError.self) { try await reader.valueInTime } }
        }
    }

    @Test func `a time limit goes with the exchange that it is for`() async throws {
        let clock = TestClock()
        do {
            let exchange = exchange(clock)
            exchange.finish(after: .seconds(3))
            await clock.waitForSleepers()
            exchange.move()
        }
        try await waitUntil { clock.sleepers == 0 }
    }
}
