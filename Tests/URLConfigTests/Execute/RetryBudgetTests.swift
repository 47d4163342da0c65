import Logging
import Testing
import URLConfigTesting

@testable import URLConfig

/// The load that retries may add to a server that is down.
@Suite(.inTime) struct RetryBudgetTests {
    private let start = ContinuousClock.now

    /// The number of retries until the budget is empty.
    private func drain(_ budget: RetryPolicy.Budget, _ host: String = "a", after time: Duration = .zero) -> Int {
        var count = 0
        while count < 1000, budget.spend(host, at: start + time) { count += 1 }
        return count
    }

    @Test func `ten to begin with, and a tenth for each call`() {
        let budget = RetryPolicy.Budget()
        #expect(drain(budget) == 10)
        for _ in 0..<9 { budget.earn("a", at: start) }
        #expect(drain(budget) == 0)
        for _ in 0..<2 { budget.earn("a", at: start) }
        #expect(drain(budget) == 1)
    }

    @Test func `no more than ten are kept`() {
        let budget = RetryPolicy.Budget()
        for _ in 0..<10_000 { budget.earn("a", at: start) }
        #expect(drain(budget) == 10)
        #expect(drain(budget, after: .seconds(1_000_000)) == 10)
    }

    @Test func `a minute brings one more, without any call`() {
        let budget = RetryPolicy.Budget()
        #expect(drain(budget) == 10)
        for (second, retries) in [(59, 0), (60, 1), (119, 0), (121, 1), (90, 0), (181, 1), (421, 4)] {
            #expect(drain(budget, after: .seconds(second)) == retries)
        }
    }

    /// Every call fails, and is retried twice if the budget allows it.
    @Test(arguments: [1e-3, 1e-2, 0.1, 1, 2, 5, 60, 3600])
    func `a thousand calls in a full outage cause no more requests than a tenth, ten and one a minute`(
        interval: Double
    ) {
        let budget = RetryPolicy.Budget()
        var requests = 0
        for call in 0..<1000 {
            let now = start + .seconds(interval * Double(call))
            budget.earn("a", at: now)
            requests += 1
            for _ in 0..<2 where budget.spend("a", at: now) { requests += 1 }
        }
        #expect(requests >= 1100)
        #expect(Double(requests) <= 1110 + interval * 1000 / 60)
        if interval <= 5 { #expect(requests < 1200) }
    }

    @Test func `hosts whose reserve is full are not stored, and of too many others the oldest is dropped`() {
        let budget = RetryPolicy.Budget()
        #expect(drain(budget, "a") == 10)
        for host in 0..<5000 { budget.earn("full \(host)", at: start + .milliseconds(1)) }
        #expect(drain(budget, "a") == 0)
        for host in 0..<1000 { _ = budget.spend("short \(host)", at: start + .milliseconds(1)) }
        #expect(drain(budget, "a") == 10)
    }

    @Test func `concurrent calls do not spend more`() async {
        let budget = RetryPolicy.Budget()
        let start = start
        let spent = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<1000 { group.addTask { budget.spend("a", at: start) } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(spent == 10)
    }

    /// A budget without a retry for this host.
    private func emptyBudget(_ host: String = "api.test") -> RetryPolicy.Budget {
        let budget = RetryPolicy.Budget()
        // In the future, so that it gains nothing if other tests delay this one.
        _ = drain(budget, host, after: .seconds(3600))
        return budget
    }

    @Test func `an attempt that the budget does not allow says so, and so does the log`() async throws {
        let (logger, log) = Logger.recording()
        let response = try await stubs.get(.status(.serviceUnavailable)) {
            $0.logger = logger
            $0.retry = .atOnce(budget: emptyBudget())
        }
        let words = "not retried: the retry budget is spent"
        #expect(response.attempts.map(\.description) == ["503 after 0 ms, \(words)"])
        let error = expectThrown(.unacceptableStatus) { try response.validated() }
        #expect("\(error as Any)".hasSuffix("\n  1. 503 after 0 ms, \(words))"))
        #expect(log.text.contains("🔁 \(words)"))
    }

    @Test func `without a budget, every attempt is made`() async throws {
        let response = try await stubs.get(.status(.serviceUnavailable)) {
            $0.retry = .atOnce(budget: emptyBudget())
            $0.retry.isBudgeted = false
        }
        #expect(response.attempts.count == 3)
    }

    @Test(
        .stubs {
            $0.get("https://api.test/", .redirect(to: "https://other.test/"))
            $0.get("https://other.test/", .status(.serviceUnavailable)).times(3)
        })
    func `after a redirect, retries are paid for by the host of the call`() async throws {
        let budget = RetryPolicy.Budget()
        try await stubs.get { $0.retry = .atOnce(budget: budget) }
        #expect(drain(budget, "other.test") == 10)
        #expect(drain(budget, "api.test") == 8)
    }
}

extension RetryPolicy {
    /// Three attempts without a delay, with a budget that no other test uses.
    static func atOnce(_ attempts: Int = 3, budget: Budget = RetryPolicy.Budget()) -> Self {
        var policy = Self(attempts: attempts)
        policy.firstDelay = .zero
        policy.budget = budget
        return policy
    }
}
