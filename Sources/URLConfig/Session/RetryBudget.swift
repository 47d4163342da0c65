/// How many more requests retries may cause: for each host a reserve that calls and time fill, and retries draw on.
///
/// While a service is down, every retry adds to the load that keeps it down. A reserve contains ten retries at most.
/// Each call adds a tenth of a retry. Each minute adds one, so that a client with few calls has retries again after
/// an outage.
///
/// In a full outage, n calls within m minutes cause at most 10 + n/10 + m retries. For a thousand calls at a rate of
/// twelve a minute or more, that is less than 1.2 requests a call. A client with fewer calls exceeds 1.1 requests a
/// call by no more than one retry a minute.
public final class RetryBudget: Sendable {
    private struct Reserve {
        var retries = RetryBudget.most
        var time: ContinuousClock.Instant

        mutating func refill(at now: ContinuousClock.Instant) {
            // Callers read the clock before they take the lock, so that time may seem to go back.
            guard now > time else { return }
            retries = min(RetryBudget.most, retries + (now - time) / RetryBudget.refillTime)
            time = now
        }

        func isShort(at now: ContinuousClock.Instant) -> Bool {
            var later = self
            later.refill(at: now)
            return later.retries < RetryBudget.most
        }
    }

    private static let most = 10.0
    private static let earned = 0.1
    /// How long it takes until a reserve has one more retry, without any calls.
    private static let refillTime = Duration.seconds(60)
    /// How many hosts there are reserves for: a crawler must not fill the memory.
    private static let mostHosts = 1000

    private let reserves = Locked<[String: Reserve]>([:])

    /// The budget of ``RetryPolicy/standard``, shared by the process.
    public static let shared = RetryBudget()

    /// A budget of its own, with ten retries for each host to begin with.
    public init() {}

    /// A call to a host begins.
    func earn(_ host: String, at now: ContinuousClock.Instant = .now) {
        change(host, at: now) { $0 = min(Self.most, $0 + Self.earned) }
    }

    /// Whether one more retry may be sent to a host; it counts as sent.
    func spend(_ host: String, at now: ContinuousClock.Instant = .now) -> Bool {
        change(host, at: now) { retries in
            guard retries >= 1 else { return false }
            retries -= 1
            return true
        }
    }

    private func change<Result>(
        _ host: String, at now: ContinuousClock.Instant, _ change: (_ retries: inout Double) -> Result
    ) -> Result {
        reserves.withLock { reserves in
            if reserves.count >= Self.mostHosts, reserves[host] == nil {
                // A full reserve is what a new host has, too.
                reserves = reserves.filter { $0.value.isShort(at: now) }
                if reserves.count >= Self.mostHosts, let oldest = reserves.min(by: { $0.value.time < $1.value.time }) {
                    reserves[oldest.key] = nil
                }
            }
            var reserve = reserves[host] ?? Reserve(time: now)
            reserve.refill(at: now)
            defer { reserves[host] = reserve }
            return change(&reserve.retries)
        }
    }
}
