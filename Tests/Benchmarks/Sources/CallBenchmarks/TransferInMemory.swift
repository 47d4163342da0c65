import BenchmarkContent
import URLConfig

/// A transfer of 1 GB, which needs little memory: each has a process of its own, which says how far it grew at most.
struct TransferInMemory {
    private static let size = 1 << 30
    /// The most bytes of memory.
    private static let limit = 48e6
    private static let transports: [(name: String, transport: Transport)] = [
        ("", .urlSession), (" on servers", .asyncHTTPClient),
    ]

    static let all = transports.flatMap { transport in
        [
            Self(transport, "stream", "/body/\(size)") { try await read($0, $1, slowly: false) },
            Self(transport, "slow reader", "/body/\(size)") { try await read($0, $1, slowly: true) },
            Self(transport, "stream that is stored on the disk", "/body/\(size)?stored") { url, transport in
                let folder = FileManager.default.temporaryDirectory.appendingPathComponent("URLConfig-\(UUID())")
                defer { try? FileManager.default.removeItem(at: folder) }
                // A store keeps no body that is larger than half of it.
                let cache = HTTPCache.disk(megabytes: 4000, in: folder)
                try await read(url, transport, slowly: false, cache: cache)
            },
            Self(transport, "download", "/body/\(size)") { try await download($0, $1) },
            Self(transport, "upload of a file", "/sink") { url, transport in
                let file = try SparseFile(size: size)
                try await upload(.file(file.url), file.checksum, to: url, transport)
            },
            Self(transport, "upload of a form", "/sink") { url, transport in
                let form = try LargeForm(SparseFile(size: size))
                try await upload(.multipart(form.form), form.checksum, to: url, transport)
            },
        ]
    }

    let work: String
    private let path: String
    private let transport: Transport
    private let run: @Sendable (URL, Transport) async throws -> Void

    private init(
        _ transport: (name: String, transport: Transport), _ name: String, _ path: String,
        _ run: @escaping @Sendable (URL, Transport) async throws -> Void
    ) {
        work = "Memory at 1 GB\(transport.name), \(name)"
        self.path = path
        self.transport = transport.transport
        self.run = run
    }

    func run(on server: Server) throws {
        let growth = try PeakMemory.growth(work: work, url: server.url(path))
        Row(
            work: work, against: "limit", theirs: Self.limit / 1e6, ours: growth / 1e6, unit: "MB",
            ratio: growth / Self.limit, target: 1
        ).print()
    }

    /// Makes one small call, so that all libraries are ready, then the transfer, and prints the bytes of growth.
    static func printGrowth(work: String, url: URL) async throws {
        guard let transfer = all.first(where: { $0.work == work }) else { throw CocoaError(.formatting) }
        _ = try await Ours(transport: transfer.transport).article(for: URLRequest(url: url.sibling("/small")))
        try await PeakMemory.printGrowth { try await transfer.run(url, transfer.transport) }
    }

    /// Reads a body, and compares it with the server's.
    ///
    /// - Parameter slowly: Whether the first hundredth is read at 10 MB/s. The server sends everything at about 1 GB/s,
    ///   if it need not wait, so the whole body arrives at that time.
    private static func read(
        _ url: URL, _ transport: Transport, slowly: Bool, cache: HTTPCache? = nil
    ) async throws {
        var arrival = Arrival(isCompared: true)
        let response = try await OurStream(transport: transport, cache: cache).response(for: URLRequest(url: url))
        for try await chunk in response.chunks {
            arrival.receive(chunk)
            if slowly, arrival.count < size / 100 {
                try await Task.sleep(for: .seconds(Double(chunk.count) / 10e6))
            }
        }
        require(arrival.count == size, "\(arrival.count) bytes")
        guard cache != nil else { return }
        var request = URLRequest(url: url)
        // It throws if nothing is stored.
        request.cachePolicy = .returnCacheDataDontLoad
        for try await _ in try await OurStream(transport: transport, cache: cache).response(for: request).chunks {
            break
        }
    }

    /// Downloads a file, and compares it with what the server sends.
    private static func download(_ url: URL, _ transport: Transport) async throws {
        let target = FileManager.default.temporaryDirectory.appendingPathComponent("URLConfig-\(UUID()).bin")
        defer { try? FileManager.default.removeItem(at: target) }
        try await URLSession(configuration: .ephemeral).download(for: URLRequest(url: url), to: target) {
            $0.logger = nil
            $0.transport = transport
        }
        var arrival = Arrival(isCompared: true)
        let file = try FileHandle(forReadingFrom: target)
        while let piece = try file.read(upToCount: 1 << 20), !piece.isEmpty { arrival.receive(piece) }
        require(arrival.count == size, "\(arrival.count) bytes in the file")
    }

    private static func upload(
        _ source: UploadSource, _ expected: Checksum, to url: URL, _ transport: Transport
    ) async throws {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        let session = URLSession(configuration: .ephemeral)
        let response = try await session.upload(source, for: request) {
            $0.logger = nil
            $0.transport = transport
        }
        let received: Checksum = try response.validated().decode()
        require(received == expected, "the server got \(received) instead of \(expected)")
    }
}
