import Testing

@testable import URLConfig

/// Downloads that are cancelled, and two of them at once.
@Suite(.inTime) struct DownloadCancellationTests {
    private static let version = FileServer.Version(1, size: 2_000_000)
    private let folder = DownloadFolder()

    @Test func `after a cancelled download, the next one continues immediately`() async throws {
        try await FileServer(Self.version, cuts: [.init(count: 500_000, end: .hang)]).serving { server in
            let folder = folder
            let task = Task { try await server.download(to: folder) }
            try await waitUntil { folder.size(folder.part) == 500_000 }
            await task.expectCancelled()
            try await server.download(to: folder)
            #expect(folder.has(Self.version.content))
            #expect(server.hasRanges(from: nil, 500_000))
        }
    }

    @Test func `a download may be cancelled at any time`() async throws {
        var random = SeededGenerator(seed: 7)
        try await FileServer(Self.version).serving { server in
            let folder = folder
            for _ in 0..<60 {
                let limit = Int.random(in: 0...2_000_000, using: &random)
                let isDelayed = Bool.random(using: &random)
                let task = Task { try await server.download(to: folder) }
                if isDelayed {
                    try await waitUntil { folder.size(folder.part) >= limit || folder.size(folder.file) > 0 }
                }
                task.cancel()
                do {
                    _ = try await task.valueInTime
                    #expect(folder.has(Self.version.content))
                    try FileManager.default.removeItem(at: folder.file)
                } catch {
                    #expect(error is CancellationError)
                    #expect(folder.text(folder.file) == nil)
                }
            }
            try await server.download(to: folder)
            #expect(folder.has(Self.version.content))
        }
    }

    @Test func `a body that ends because the task is cancelled is not a file`() async throws {
        let (pieces, continuation) = AsyncStream<Data>.makeStream()
        continuation.yield(Data("12".utf8))
        let request = URLRequest.with(URLRequest.Config(host: "http://h.invalid"))
        let folder = folder
        let task = Task {
            try await URLSession.shared.download(for: request, to: folder.file, config: .silent) {
                $0.transport = Transport { _ in .init(headerFields: [.eTag: "\"v1\""], body: ResponseBody(pieces)) }
            }
        }
        try await waitUntil { folder.size(folder.part) == 2 }
        await task.expectCancelled()
        #expect(folder.text(folder.file) == nil)
        #expect(folder.text(folder.part) == "12")
    }

    @Test func `of many downloads to one target, one after another succeeds`() async throws {
        try await FileServer(Self.version).serving { server in
            let folder = folder
            let results = await withTaskGroup(of: Result<FileResponse, any Error>.self) { group in
                for _ in 0..<10 { group.addTask { await Result { try await server.download(to: folder) } } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(results.count { (try? $0.get()) != nil } == 1)
            #expect(folder.has(Self.version.content))
            let names = try folder.names
            #expect(names == ["a.zip"])
        }
    }

    #if os(Linux)
    /// In a separate process, so that only this download counts for its peak memory.
    // The thread sanitizer needs several more bytes for each byte.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["TSAN_OPTIONS"] == nil))
    func `a long file needs little memory`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            let length = Locked(1000)
            let fault = FaultServer.Fault { connection in
                let piece = [UInt8](repeating: 7, count: 1 << 20)
                while true {
                    try connection.read()
                    var rest = length.withLock(\.self)
                    try connection.send(FaultServer.Fault.head(length: rest))
                    while rest > 0 {
                        try connection.send(piece.prefix(rest))
                        rest -= min(rest, piece.count)
                    }
                }
            }
            try await FaultServer.serving(fault) { server in
                // What a process needs once.
                try await server.download(to: DownloadFolder())
                length.set(\.self, 256 << 20)
                let folder = DownloadFolder()
                let before = try Memory.peak()
                try await server.download(to: folder)
                #expect(folder.size(folder.file) == 256 << 20)
                let peak = try Memory.peak()
                #expect(peak - before < 32 << 20)
            }
        }
    }
    #endif
}
