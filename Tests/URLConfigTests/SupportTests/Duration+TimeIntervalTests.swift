import Foundation
import Testing

@testable import URLConfig

@Suite struct DurationTimeIntervalTests {
    @Test(arguments: [0, -0.0, -1, .nan, -.infinity, .leastNonzeroMagnitude * -1] as [TimeInterval])
    func `seconds that limit nothing are no limit`(seconds: TimeInterval) {
        #expect(Duration(timeoutInterval: seconds) == nil)
    }

    @Test(arguments: [0.001, 0.5, 1, 86_400, 1e9] as [TimeInterval])
    func `seconds and back are the same`(seconds: TimeInterval) throws {
        let duration = try #require(Duration(timeoutInterval: seconds))
        #expect(abs((duration.timeoutInterval ?? 0) - seconds) <= seconds * 1e-12)
    }

    @Test(arguments: [1e10, 1e300, .greatestFiniteMagnitude, .infinity] as [TimeInterval])
    func `seconds beyond all bounds are the longest limit`(seconds: TimeInterval) {
        #expect(Duration(timeoutInterval: seconds) == .seconds(1_000_000_000))
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min), .nanoseconds(-1)])
    func `a duration that limits nothing has no seconds`(duration: Duration) {
        #expect(duration.timeoutInterval == nil)
    }

    @Test func `the longest duration has seconds that are safe for the system`() {
        let longest = Duration(secondsComponent: .max, attosecondsComponent: 999_999_999_999_999_999)
        #expect(longest.timeoutInterval == 1e9)
    }
}
