/// Limits the retries of all calls to a host, because retries add load to a service that is down.
///
/// Each host has a reserve of at most ten retries. Each call adds 0.1 and each minute adds 1. So n calls within m
/// minutes cause at most 10 + n/10 + m retries.
final class RetryBudget: Sendable {
    private struct Reserve {
        var retries = RetryBudget.most
        var time: ContinuousClock.Instant
    }

    private static let most = 10.0
    /// The maximum number of reserves, so that a crawler does not fill the memory.
    private static let mostHosts = 1000

    static let shared = RetryBudget()

    /// The reserves that are not full; a host without an entry has a full reserve.
    private let reserves = Locked<[String: Reserve]>([:])

    /// Adds to the reserve for a new call to the host.
    func earn(_ host: String, at now: ContinuousClock.Instant = .now) { _ = add(0.1, to: host, at: now) }

    /// Removes one retry from the reserve; `false` if there is none left.
    func spend(_ host: String, at now: ContinuousClock.Instant = .now) -> Bool { add(-1, to: host, at: now) }

    private func add(_ retries: Double, to host: String, at now: ContinuousClock.Instant) -> Bool {
        reserves.withLock { reserves in
            var reserve = reserves.removeValue(forKey: host) ?? Reserve(time: now)
            // Callers read the clock before they take the lock, so `now` may be older than the reserve's time.
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
