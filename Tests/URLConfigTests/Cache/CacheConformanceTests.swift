import Testing

@testable import URLConfig

private let pathOfCases = ProcessInfo.processInfo.environment["CACHE_TESTS"]

/// Runs the cases of http-tests/cache-tests that fit a private cache of a client.
///
/// ```console
/// CACHE_TESTS=tests.json swift test --filter CacheConformance
/// ```
@Suite(.inTime, .enabled(if: pathOfCases != nil, "CACHE_TESTS does not name the file of the cases."))
struct CacheConformanceTests {
    @Test(arguments: ["memory", "disk"])
    func `nearly all cases pass`(store: String) async throws {
        let document = try Data(contentsOf: URL(filePath: try #require(pathOfCases)))
        let suites = try JSONDecoder().decode(JSON.self, from: document).list
        let cases = suites.flatMap { $0["tests"].list }.compactMap { CacheCase($0) }
        let (folder, session) = (TemporaryDirectory(), URLSession(configuration: .ofTests))
        var failures: [String: String] = [:]
        for test in cases {
            let own = folder.url.appending(component: test.id)
            let cache = store == "disk" ? HTTPCache.disk(megabytes: 5, in: own) : .memory(megabytes: 5)
            failures[test.id] = await test.failure(cache, in: session)
        }
        // What a failed case depends on says nothing; a few rounds are enough for all chains.
        for _ in 0..<5 {
            for test in cases where failures[test.id] == nil {
                let failed = test.dependencies.first { failures[$0] != nil }
                failures[test.id] = failed.map { "it depends on \($0)" }
            }
        }
        for (kind, least) in [("required", 90), ("optimal", 38)] {
            let counted = cases.filter { $0.kind == kind }
            for test in counted { failures[test.id].map { print("\(store), \(kind) \(test.id): \($0)") } }
            let passed = counted.count { failures[$0.id] == nil }
            print("\(store): \(kind) \(passed) of \(counted.count)")
            #expect(passed >= least)
        }
    }
}
