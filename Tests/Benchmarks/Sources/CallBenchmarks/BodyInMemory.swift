import URLConfig

/// A large body in memory: each way has a process of its own, which says how far its memory grew at most.
struct BodyInMemory {
    private static let contests: [Contest] = [
        Contest(work: "512 MB body in memory", ways: [Ours.self, ByHand.self, BareDelegate.self], target: 1.1),
        Contest(
            work: "512 MB body in memory on servers", ways: [OursOnServers.self, BareAsyncHTTPClient.self], target: 1.1),
    ]

    /// Our way, the others, and how much memory ours may take as a multiple of the body.
    private struct Contest {
        let work: String
        let ways: [any Way.Type]
        let target: Double
    }

    private let size = 512 << 20
    private let filter: String

    /// - Parameter filter: How the name of a work begins.
    init(filter: String) {
        self.filter = filter
    }

    func run(on server: Server) throws {
        for contest in Self.contests where contest.work.hasPrefix(filter) { try run(contest, on: server) }
    }

    private func run(_ contest: Contest, on server: Server) throws {
        let url = server.url("/body/\(size)")
        let peaks = try contest.ways.map { try PeakMemory.growth(work: $0.name, url: url) / 1e6 }
        let body = Double(size) / 1e6
        Row(
            work: contest.work, against: "size of the body", theirs: body, ours: peaks[0], unit: "MB",
            ratio: peaks[0] / body, target: contest.target
        ).print()
        for (way, peak) in zip(contest.ways, peaks).dropFirst() {
            Row(
                work: contest.work, against: way.name, theirs: peak, ours: peaks[0], unit: "MB",
                ratio: peaks[0] / peak, note: "\(way.name): \((peak / body).shown) x body"
            ).print()
        }
    }

    /// Makes one small call, so that all libraries are ready, then the large one, and prints the bytes of growth.
    ///
    /// - Returns: Whether there is a way of this name.
    static func printGrowth(way name: String, url: URL) async throws -> Bool {
        guard let way = contests.flatMap(\.ways).first(where: { $0.name == name })?.init() else { return false }
        _ = try await way.article(for: URLRequest(url: url.sibling("/small")))
        try await PeakMemory.printGrowth {
            let data = try await way.data(for: URLRequest(url: url))
            require("\(data.count)" == url.lastPathComponent, "\(data.count) bytes of \(url.lastPathComponent)")
        }
        return true
    }
}
