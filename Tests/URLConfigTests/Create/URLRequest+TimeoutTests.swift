import Foundation
import Testing
import URLConfig

/// Time limits from one end of the scale to the other: none of them traps.
@Suite struct URLRequestTimeoutTests {
    private func seconds(_ configure: (inout URLRequest.Config) -> Void) -> TimeInterval {
        URLRequest.with(.init(host: "https://h.example"), configure).timeoutInterval
    }

    @Test(
        arguments: [
            (.seconds(30), 30), (.milliseconds(500), 0.5), (nil, 60), (.nanoseconds(1), 1e-9),
            (Duration(secondsComponent: 0, attosecondsComponent: 1), 1e-18),
        ] as [(Duration?, TimeInterval)])
    func `a limit is what the request has, or a minute`(timeout: Duration?, expected: TimeInterval) {
        #expect(seconds { $0.timeout = timeout } == expected)
    }

    @Test(arguments: [(30, 30), (0.25, 0.25), (nil, 60)] as [(TimeInterval?, TimeInterval)])
    func `seconds are the same field`(interval: TimeInterval?, expected: TimeInterval) {
        #expect(seconds { $0.timeoutInterval = interval } == expected)
    }

    private func expectRefusal(_ configure: (inout URLRequest.Config) -> Void) {
        let config = URLRequest.Config(host: "https://h.example").with(configure)
        let error = #expect(throws: RequestError.self) { try config.request() }
        #expect(error?.code == .invalidRequest)
        #expect(error?.reason.contains("s; set more than zero") == true)
        #expect(URLRequest.with(config).url?.scheme == "unsendable-request")
    }

    @Test(arguments: [.zero, .seconds(-1), .seconds(Int64.min), .nanoseconds(-1)] as [Duration])
    func `a limit that is not more than zero is refused`(timeout: Duration) {
        expectRefusal { $0.timeout = timeout }
    }

    @Test(
        arguments: [
            0, -0.0, -1, .nan, -.infinity, -.nan, .leastNonzeroMagnitude, -.greatestFiniteMagnitude,
        ] as [TimeInterval])
    func `so are seconds that are not, or that are no number`(interval: TimeInterval) {
        expectRefusal { $0.timeoutInterval = interval }
    }

    @Test func `a limit beyond all bounds is long, finite and safe for the system`() {
        let longest: [Duration] = [
            .seconds(Int64.max), Duration(secondsComponent: .max, attosecondsComponent: 999_999_999_999_999_999),
        ]
        for timeout in longest {
            #expect(1e8...1e10 ~= seconds { $0.timeout = timeout })
        }
        for interval in [TimeInterval.infinity, .greatestFiniteMagnitude, 1e30] {
            #expect(1e8...1e10 ~= seconds { $0.timeoutInterval = interval })
        }
    }

    @Test func `either field reads as what was set by the other`() {
        var config = URLRequest.Config(host: "https://h.example")
        #expect(config.timeoutInterval == nil)
        config.timeout = .milliseconds(1500)
        #expect(config.timeoutInterval == 1.5)
        config.timeoutInterval = 2
        #expect(config.timeout == .seconds(2))
        config.timeoutInterval = .nan
        #expect(config.timeout == .zero)
        config.timeout = .seconds(Int64.max)
        #expect(config.timeoutInterval?.isFinite == true)
    }
}
