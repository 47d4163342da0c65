import URLConfig

/// What it costs a call to be observed.
///
/// There is no network, so that a microsecond can be seen.
struct ObservedCall {
    static let all = [
        // From a cache no thread is woken.
        Self(name: "events", usesCache: true) { config in
            let counter = Counter()
            config.events = { _ in counter.count += 1 }
        },
        // A response of the cache has no span.
        Self(name: "telemetry without a backend", usesCache: false) { $0.telemetry = .openTelemetry },
    ]

    /// Events arrive one at a time.
    private final class Counter: @unchecked Sendable {
        var count = 0
    }

    let name: String
    let usesCache: Bool
    let configure: @Sendable (inout URLSession.Config) -> Void
    private let rounds = 40
    private let calls = 5_000

    var work: String { "Observed call, \(name)" }

    func run() async throws {
        let body = ResponseBody(Data(#"{"id":1}"#.utf8))
        let plain = URLSession.Config().with {
            $0.logger = nil
            $0.transport = Transport { _ in .init(headerFields: [.cacheControl: "max-age=6000"], body: body) }
            if usesCache { $0.cache = .memory(megabytes: 1) }
        }
        let observed = plain.with(configure)
        let request = URLRequest(url: URL(string: "http://127.0.0.1/small?token=1")!)
        func batch(_ config: URLSession.Config) async throws -> Cost {
            try await .of {
                for _ in 0..<calls {
                    let response = try await URLSession.shared.response(for: request, config: config)
                    require(response.status == .ok, "\(work) got \(response.status)")
                }
            }
        }
        for config in [plain, observed] { _ = try await batch(config) }
        var (without, with) = ([Cost](), [Cost]())
        for round in 0..<rounds {
            if !round.isMultiple(of: 2) { try await with.append(batch(observed)) }
            try await without.append(batch(plain))
            if round.isMultiple(of: 2) { try await with.append(batch(observed)) }
        }
        for (what, cost) in [("processor", \Cost.processor), ("wall clock", \.wall)] {
            let pairs = zip(with, without).map { ($0[keyPath: cost], $1[keyPath: cost]) }
            let extra = pairs.map { ($0 - $1) / Double(calls) }
            Row(
                work: work, against: "not observed, \(what)",
                theirs: pairs.map(\.1).quantile(0.5) / Double(calls),
                ours: pairs.map(\.0).quantile(0.5) / Double(calls),
                unit: "ns", ratio: pairs.map { $0 / $1 }.quantile(0.5),
                note: "\(Int(extra.quantile(0.5))) ns more; half within "
                    + "\(Int(extra.quantile(0.25)))-\(Int(extra.quantile(0.75)))"
            ).print()
        }
    }
}
