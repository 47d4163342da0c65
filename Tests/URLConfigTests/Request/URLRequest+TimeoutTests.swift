import Foundation
import Testing
import URLConfig

/// Time limits from one end of the scale to the other: none of them traps.
@Suite struct URLRequestTimeoutTests {
    private func seconds(_ configurate: (inout URLRequest.Config) -> Void) -> TimeInterval {
        URLRequest.with(.init(host: "https://h.example"), configurate).timeoutInterval
    }

    @Test(
        arguments: [
            (.seconds(30), 30), (.milliseconds(500), 0.5), (nil, 60), (.zero, 60), (.seconds(-1), 60),
            (.seconds(Int64.min), 60), (.nanoseconds(1), 1e-9),
        ] as [(Duration?, TimeInterval)])
    func `a limit that is not more than zero leaves it at a minute`(timeout: Duration?, expected: TimeInterval) {
        #expect(seconds { $0.timeout = timeout } == expected)
    }

    @Test(
        arguments: [
            (30, 30), (0.25, 0.25), (nil, 60), (0, 60), (-0.0, 60), (-1, 60), (.nan, 60), (-.infinity, 60), (-.nan, 60),
            (.leastNonzeroMagnitude, 60), (-.greatestFiniteMagnitude, 60),
        ] as [(TimeInterval?, TimeInterval)])
    func `seconds are the same field`(interval: TimeInterval?, expected: TimeInterval) {
        #expect(seconds { $0.timeoutInterval = interval } == expected)
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
        #expect(config.timeout == nil)
        config.timeout = .seconds(Int64.max)
        #expect(config.timeoutInterval?.isFinite == true)
    }
}
