import Testing

@testable import URLConfig

/// Delays as values.
@Suite struct ReconnectionTests {
    private static let empty = EventConnection.Loss()
    private static let event = EventConnection.Loss(hasEvents: true)

    private static func quiet(_ open: Duration) -> EventConnection.Loss { EventConnection.Loss(open: open) }

    @Test func `the random part is at most half`() {
        for (jitter, delay) in [(0.0, Duration.seconds(3)), (0.5, .seconds(3.75)), (1, .seconds(4.5))] {
            var reconnection = Reconnection()
            #expect(reconnection.delay(after: Self.event, jitter: jitter) == delay)
        }
    }

    @Test func `a quiet connection is of use if it was open for as long as the delay before it`() {
        var reconnection = Reconnection()
        let losses = [2, 2, 5, 12, 4, 3].map { Self.quiet(.seconds($0)) }
        #expect(losses.map { reconnection.delay(after: $0, jitter: 0) / .seconds(1) } == [3, 6, 12, 3, 3, 3])
    }

    @Test func `a server cannot make it overflow`() {
        var reconnection = Reconnection()
        reconnection.time = Duration.seconds(Int64.max).clamped
        for loss in [Self.empty, Self.event, Self.empty] {
            #expect(reconnection.delay(after: loss, jitter: 1) == Duration.seconds(Int64.max).clamped)
        }
        let forever = EventConnection.Loss(retryAfter: .seconds(Int64.max))
        #expect(reconnection.delay(after: forever, jitter: 1) == Duration.seconds(Int64.max).clamped)
    }

    @Test func `a shorter time of the server ends a longer delay`() {
        var reconnection = Reconnection()
        for _ in 0..<10 { _ = reconnection.delay(after: Self.empty, jitter: 0) }
        #expect(reconnection.delay(after: Self.empty, jitter: 0) == .seconds(30))
        reconnection.time = .zero
        #expect(reconnection.delay(after: Self.event, jitter: 1) == .milliseconds(150))
        #expect(reconnection.delay(after: Self.empty, jitter: 0) == .seconds(1))
    }
}
