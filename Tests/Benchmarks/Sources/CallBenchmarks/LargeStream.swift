import URLConfig

/// A large body that is read as it arrives, as fast as possible: all ways take turns in every round.
struct LargeStream {
    static let work = "Stream 512 MB"

    private let size = 512 << 20
    private let rounds = 15
    private let limit = Duration.seconds(60)

    /// Prints the rows.
    ///
    /// Before anything counts, every way has received exactly the bytes of the server once. Each round goes through the
    /// ways in the opposite order of the one before. A ratio compares two times of one round; the median counts.
    func run(on server: Server) async throws {
        let request = URLRequest(url: URL(string: server.url("/body/\(size)"))!)
        let ways: [any StreamWay] = [
            OurStream(), BareDelegateStream(), WholeBody(),
            OurStream("ours on servers, no deadline", transport: .asyncHTTPClient), BareAsyncHTTPClientStream(),
            OurStream("ours with a deadline", deadline: .seconds(600)),
        ]
        for way in ways { try await read(way, request, isCompared: true) }
        var costs = [[Cost]](repeating: [], count: ways.count)
        let start = ContinuousClock.now
        for round in 0..<rounds where start.duration(to: .now) < limit {
            let turns = round.isMultiple(of: 2) ? Array(ways.indices) : ways.indices.reversed()
            for index in turns {
                try await costs[index].append(.of { try await read(ways[index], request, isCompared: false) })
            }
        }
        let (onServers, withDeadline) = ("\(Self.work) on servers", "\(Self.work) with a deadline")
        let comparisons: [(work: String, ours: Int, theirs: Int, cost: KeyPath<Cost, Double>, target: Double?)] = [
            (Self.work, 0, 1, \.wall, 1), (Self.work, 0, 1, \.processor, nil), (Self.work, 0, 2, \.wall, nil),
            (onServers, 3, 1, \.wall, nil), (onServers, 3, 4, \.wall, 1.15),
            (withDeadline, 5, 0, \.wall, 1.05), (withDeadline, 5, 0, \.processor, 1.05),
        ]
        for (work, ours, theirs, cost, target) in comparisons {
            let against = "\(ways[theirs].name), \(cost == \.wall ? "wall clock" : "processor")"
            let (mine, others) = (costs[ours].map { $0[keyPath: cost] }, costs[theirs].map { $0[keyPath: cost] })
            let ratios = zip(mine, others).map { $0 / $1 }
            Row(
                work: work, against: against, theirs: others.quantile(0.5) / 1e6, ours: mine.quantile(0.5) / 1e6,
                unit: "ms", ratio: ratios.quantile(0.5), target: target,
                note: "half of \(ratios.count) within \(ratios.quantile(0.25).shown)-\(ratios.quantile(0.75).shown)"
            ).print()
        }
    }

    private func read(_ way: any StreamWay, _ request: URLRequest, isCompared: Bool) async throws {
        let count = try await way.read(request, isCompared: isCompared).count
        require(count == size, "\(way.name) got \(count) bytes")
    }
}
