import Testing

@testable import URLConfig

/// Random faults: a file is whole and of one version, or there is none.
@Suite(.inTime) struct DownloadRandomTests {
    private static let versions = (1...3).map { seed in
        // Two versions have the same length, so that only the validator tells them apart.
        FileServer.Version(seed, size: seed == 3 ? 250_000 : 400_000)
    }

    /// A server whose version, ranges and faults change from request to request.
    private static func server(_ seed: UInt64) -> FileServer {
        let random = Locked(SeededGenerator(seed: seed))
        return FileServer { _, _ in
            random.withLock { random in
                var version = versions[0]
                if Int.random(in: 0..<4, using: &random) == 0 {
                    version = versions.randomElement(using: &random) ?? version
                }
                if Int.random(in: 0..<8, using: &random) == 0 { version = version.with() }
                var response = FileServer.Response(version: version)
                if Int.random(in: 0..<3, using: &random) == 0 {
                    response.ranges = FileServer.Ranges.allCases.randomElement(using: &random) ?? .correct
                }
                if Int.random(in: 0..<3, using: &random) > 0 {
                    let end: FaultServer.Fault.End = Bool.random(using: &random) ? .close : .reset
                    response.cut = .init(count: Int.random(in: 0..<400_000, using: &random), end: end)
                }
                return response
            }
        }
    }

    @Test(arguments: 1...12 as ClosedRange<UInt64>) func `no file is made of two versions`(seed: UInt64) async throws {
        let folder = DownloadFolder()
        var random = SeededGenerator(seed: seed)
        var files = 0
        try await Self.server(seed).serving { server in
            for _ in 0..<30 {
                let attempts = Int.random(in: 1...3, using: &random)
                let result = await Result {
                    try await server.download(to: folder, overwrites: true, attempts: attempts)
                }
                let content = try? Data(contentsOf: folder.file)
                switch result {
                case .success(let response):
                    files += 1
                    #expect(content?.count == Int(response.byteCount))
                    let isVersion = Self.versions.contains { $0.content == content }
                    #expect(isVersion, "run with seed \(seed)")
                    if !isVersion { return }
                    #expect(try folder.names == ["a.zip"])
                    try FileManager.default.removeItem(at: folder.file)
                case .failure(let error):
                    #expect(error is URLError)
                    #expect(content == nil)
                }
            }
        }
        #expect(files > 0)
    }
}
