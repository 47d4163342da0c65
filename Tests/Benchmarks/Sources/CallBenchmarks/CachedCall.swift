import URLConfig

/// Calls with a cache, one after the other, against calls without one in the same round.
struct CachedCall {
    static let all = [
        Self(name: "memory", hitTarget: 0.1) { _ in .memory(megabytes: 50) },
        Self(name: "disk", hitTarget: nil) { .disk(megabytes: 50, in: $0) },
    ]

    let name: String
    /// The most that a hit may cost as a multiple of a call.
    let hitTarget: Double?
    let cache: @Sendable (_ folder: URL) -> HTTPCache
    private let rounds = 30
    private let calls = 192

    var work: String { "Cache in \(name)" }

    func run(on server: Server) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("URLConfig-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let (plain, cached) = (Ours(), Ours(transport: .urlSession, cache: cache(folder)))
        // New URLs for both ways, because the query is a part of the work.
        var number = 0
        func request(isNew: Bool) -> URLRequest {
            number += isNew ? 1 : 0
            return URLRequest(url: URL(string: server.url("/small?\(isNew ? "\(number)" : "hit")"))!)
        }
        func batch(_ way: Ours, isNew: Bool) async throws -> Cost {
            let requests = (0..<calls).map { _ in request(isNew: isNew) }
            return try await .of {
                for request in requests {
                    let article = try await way.article(for: request)
                    require(article == .expected, "\(work) got \(article)")
                }
            }
        }
        for isNew in [true, false] { _ = try await (batch(plain, isNew: isNew), batch(cached, isNew: isNew)) }
        let sent = server.load().requests
        var (without, misses, hits) = ([Cost](), [Cost](), [Cost]())
        for round in 0..<rounds {
            if !round.isMultiple(of: 2) { try await misses.append(batch(cached, isNew: true)) }
            try await without.append(batch(plain, isNew: true))
            if round.isMultiple(of: 2) { try await misses.append(batch(cached, isNew: true)) }
            try await hits.append(batch(cached, isNew: false))
        }
        require(server.load().requests - sent == 2 * rounds * calls, "a hit was sent, or a miss was not")
        for (what, ours, target) in [("hit", hits, hitTarget), ("miss", misses, 1.05)] {
            for (name, cost) in [("processor", \Cost.processor), ("wall clock", \.wall)] {
                let ratios = zip(ours, without).map { $0[keyPath: cost] / $1[keyPath: cost] }
                Row(
                    work: "\(work), a \(what)", against: "ours without a cache, \(name)",
                    theirs: without.map { $0[keyPath: cost] }.quantile(0.5) / Double(calls),
                    ours: ours.map { $0[keyPath: cost] }.quantile(0.5) / Double(calls), unit: "ns",
                    ratio: ratios.quantile(0.5), target: target,
                    note: "half of \(ratios.count) within \(ratios.quantile(0.25).shown)-\(ratios.quantile(0.75).shown)"
                ).print()
            }
        }
    }
}
