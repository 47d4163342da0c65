/// How many more requests retries may cause: a reserve, filled by calls and drawn on by retries, for each host.
///
/// While a service is down, every retry adds to the load that keeps it down. A tenth of a retry is earned with each call, and ten
/// at most are kept: of a thousand calls in a full outage at most 110 are sent again.
public final class RetryBudget: Sendable {
    private static let most = 10.0
    private static let earned = 0.1
    /// Hosts beyond this number start anew: a crawler must not fill the memory.
    private static let mostHosts = 1000

    private let reserves = LockBox<[String: Double]>([:])

    /// The budget of ``RetryPolicy/standard``, shared by the process.
    public static let shared = RetryBudget()

    /// A budget of its own, with ten retries for each host to begin with.
    public init() {}

    /// A call to a host begins.
    func earn(_ host: String) {
        reserves.withLock { reserves in
            if reserves.count >= Self.mostHosts, reserves[host] == nil { reserves = [:] }
            reserves[host] = min(Self.most, (reserves[host] ?? Self.most) + Self.earned)
        }
    }

    /// Whether one more retry may be sent to a host; it counts as sent.
    func spend(_ host: String) -> Bool {
        reserves.withLock { reserves in
            let reserve = reserves[host] ?? Self.most
            guard reserve >= 1 else { return false }
            reserves[host] = reserve - 1
            return true
        }
    }
}
