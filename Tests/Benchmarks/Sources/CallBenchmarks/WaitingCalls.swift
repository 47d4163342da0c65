import Synchronization
import URLConfig

/// Calls that wait for a response: how much memory each of them takes, in a process of its own for each way.
struct WaitingCalls {
    private static let work = "Memory of a call that waits"

    private static let count = 4_000
    private static let begun = Atomic(0)
    /// By then all calls wait: most of them for one of six connections.
    private static let time = Duration.seconds(4)
    private static let contests: [(work: String, ours: any Way.Type, theirs: any Way.Type)] = [
        (work, Ours.self, ByHand.self),
        (work + ", on servers", OursOnServers.self, BareAsyncHTTPClient.self),
    ]

    /// - Parameter filter: How the name of a work begins.
    func run(on server: Server, filter: String) throws {
        func growth(_ way: any Way.Type) throws -> Double {
            try PeakMemory.growth(work: Self.name(of: way), url: server.url("/silence")) / Double(Self.count)
        }
        for (work, ours, theirs) in Self.contests where work.hasPrefix(filter) {
            let (ours, theirs, name) = try (growth(ours), growth(theirs), theirs.name)
            Row(
                work: work, against: name, theirs: theirs, ours: ours, unit: "bytes", ratio: ours / theirs, target: nil
            ).print()
        }
    }

    /// Makes one call, so that all libraries are ready, then the calls that wait, and prints the bytes of growth.
    ///
    /// - Returns: Whether there is a way of this name.
    static func printGrowth(work: String, url: URL) async throws -> Bool {
        let ways = contests.flatMap { [$0.ours, $0.theirs] }
        guard let way = ways.first(where: { name(of: $0) == work })?.init() else { return false }
        _ = try await way.article(for: URLRequest(url: url.sibling("/small")))
        try await PeakMemory.printGrowth {
            for _ in 0..<count {
                Task {
                    begun.add(1, ordering: .relaxed)
                    do {
                        _ = try await way.data(for: URLRequest(url: url))
                        require(false, "there was a response")
                    } catch {
                        require(false, "a call did not wait: \(error)")
                    }
                }
            }
            try await Task.sleep(for: time)
            require(begun.load(ordering: .relaxed) == count, "not all calls have begun")
        }
        return true
    }

    private static func name(of way: any Way.Type) -> String { "waiting, \(way.name)" }
}
