import URLConfig

/// Calls for a small model: all ways take turns, a batch each, in every round.
struct SmallCall {
    static let all = [
        Self(
            how: "one after the other", atOnce: 1, callsEach: 192,
            onServers: Targets(processor: 0.45, wall: 0.45)),
        Self(how: "64 at once", atOnce: 64, callsEach: 3, onServers: Targets(processor: 0.33, wall: 0.15)),
    ]

    /// The most that our way may cost as a multiple of another.
    struct Targets {
        var processor: Double
        var wall: Double
    }

    private static func targets(_ both: Double) -> Targets { Targets(processor: both, wall: both) }

    let how: String
    let atOnce: Int
    let callsEach: Int
    /// The targets of the server transport against `data(for:)`.
    let onServers: Targets
    private let rounds = 60
    private let limit = Duration.seconds(60)

    /// What the table calls the calls on Foundation.
    private var work: String { "Call, \(how)" }
    private var workOnServers: String { "Call on servers, \(how)" }
    private var workWithDeadline: String { "Call with a deadline, \(how)" }
    private var workWithTelemetry: String { "Call with telemetry, \(how)" }
    private var workWithTelemetryInMemory: String { "Call with telemetry in memory, \(how)" }
    /// They are measured in the same rounds.
    var works: [String] {
        [work, workOnServers, workWithDeadline, workWithTelemetry, workWithTelemetryInMemory]
    }

    /// Prints the rows.
    ///
    /// Each round goes through the ways in the opposite order of the one before. A ratio compares two batches of one
    /// round; the median of all rounds counts. On a busy machine there are fewer of them.
    func run(on server: Server) async throws {
        let request = URLRequest(url: URL(string: server.url("/small"))!)
        let ways: [any Way] = [
            // Without a URL cache, a call with Foundation on Linux costs least, though not the least memory.
            Ours(), ByHand(), BareDelegate(), ByHand("data(for:), no cache", configuration: .ephemeralWithoutCache),
            OursOnServers(), BareAsyncHTTPClient(), Ours("ours with a deadline", deadline: .seconds(60)),
            Ours("ours with telemetry", telemetry: .openTelemetry), OursWithTelemetryInMemory(),
        ]
        for way in ways { try await batch(way, request) }
        var costs = [[Cost]](repeating: [], count: ways.count)
        let loadBefore = server.load()
        let start = ContinuousClock.now
        for round in 0..<rounds where start.duration(to: .now) < limit {
            let turns = round.isMultiple(of: 2) ? Array(ways.indices) : ways.indices.reversed()
            for index in turns {
                try await costs[index].append(.of { try await batch(ways[index], request) })
            }
        }
        let load = server.load()
        let comparisons: [(work: String, ours: Int, theirs: Int, targets: Targets?)] = [
            (work, 0, 1, Self.targets(0.95)), (work, 0, 2, nil), (work, 0, 3, Self.targets(1.08)),
            (workWithDeadline, 6, 0, Self.targets(1.05)),
            (workWithTelemetry, 7, 0, nil), (workWithTelemetryInMemory, 8, 0, nil),
            (workOnServers, 4, 1, onServers), (workOnServers, 4, 5, Self.targets(atOnce == 1 ? 1 : 1.1)),
        ]
        for (work, ours, theirs, targets) in comparisons {
            let name = ways[theirs].name
            row(work, "\(name), processor", costs[ours], costs[theirs], \.processor, targets?.processor).print()
            row(work, "\(name), wall clock", costs[ours], costs[theirs], \.wall, targets?.wall).print()
        }
        let requests = load.requests - loadBefore.requests
        require(requests == costs.joined().count * atOnce * callsEach, "a call was not answered by the server")
        let busy = load.processorTime - loadBefore.processorTime
        let share = Double(busy) / costs.joined().reduce(0) { $0 + $1.wall }
        Row.say("# server: \(busy / requests) ns of processor time a request, \(share.shown) of one core")
    }

    private func batch(_ way: any Way, _ request: URLRequest) async throws {
        let expected = Article.expected
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<atOnce {
                group.addTask {
                    for _ in 0..<callsEach {
                        let article = try await way.article(for: request)
                        require(article == expected, "\(way.name) got \(article)")
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private func row(
        _ work: String, _ against: String, _ ours: [Cost], _ theirs: [Cost], _ cost: KeyPath<Cost, Double>,
        _ target: Double?
    ) -> Row {
        let ratios = zip(ours, theirs).map { $0[keyPath: cost] / $1[keyPath: cost] }
        let calls = Double(atOnce * callsEach)
        return Row(
            work: work, against: against, theirs: theirs.map { $0[keyPath: cost] }.quantile(0.5) / calls,
            ours: ours.map { $0[keyPath: cost] }.quantile(0.5) / calls, unit: "ns", ratio: ratios.quantile(0.5),
            target: target,
            note: "half of \(ratios.count) within \(ratios.quantile(0.25).shown)-\(ratios.quantile(0.75).shown)")
    }
}
