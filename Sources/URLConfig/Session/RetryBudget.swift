/// Limits the retries of all calls to a host, which would add to the load that keeps a service down.
///
/// Each host has a reserve of ten retries at most. Each call adds a tenth, and each minute one. In a full outage, n
/// calls within m minutes thus cause at most 10 + n/10 + m retries.
final class RetryBudget: Sendable {
    private struct Reserve {
        var retries = RetryBudget.most
        var time: ContinuousClock.Instant
    }

    private static let most = 10.0
    /// How many hosts there are reserves for: a crawler must not fill the memory.
    private static let mostHosts = 1000

    static let shared = RetryBudget()

    /// Only reserves that are not full, as a new host's is.
    private let reserves = Locked<[String: Reserve]>([:])

    /// A call to a host begins.
    func earn(_ host: String, at now: ContinuousClock.Instant = .now) { _ = add(0.1, to: host, at: now) }

    /// Whether one more retry may be sent to a host; it counts as sent.
    func spend(_ host: String, at now: ContinuousClock.Instant = .now) -> Bool { add(-1, to: host, at: now) }

    private func add(_ retries: Double, to host: String, at now: ContinuousClock.Instant) -> Bool {
        reserves.withLock { reserves in
            var reserve = reserves.removeValue(forKey: host) ?? Reserve(time: now)
            // Callers read the clock before they take the lock, so that time may seem to go back.
            let time = max(reserve.time, now)
            reserve.retries = min(Self.most, reserve.retries + (time - reserve.time) / .seconds(60))
            reserve.time = time
            let isEnough = reserve.retries + retries >= 0
            if isEnough { reserve.retries += retries }
            guard reserve.retries < Self.most else { return isEnough }
            if reserves.count >= Self.mostHosts, let oldest = reserves.min(by: { $0.value.time < $1.value.time }) {
                reserves[oldest.key] = nil
            }
            reserves[host] = reserve
            return isEnough
        }
    }
}
