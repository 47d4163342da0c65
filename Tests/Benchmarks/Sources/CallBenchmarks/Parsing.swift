import URLConfig

/// Parses a body that is in memory: the processor time of `response.events` or `response.lines`, on one core.
struct Parsing {
    static let all = [100, 1 << 14, 1 << 16].flatMap { size in
        [
            Self("events", pieceSize: size, target: 300) {
                "data: \($1)\n\n"
            } read: {
                try await read($0.events, &$1) { $0.data }
            },
            Self("events with type and ID", pieceSize: size) {
                "event: delta\nid: \($0)\ndata: \($1)\n\n"
            } read: {
                try await read($0.events, &$1) { $0.event == "delta" && !$0.id.isEmpty ? $0.data : "" }
            },
            Self("lines", pieceSize: size, target: 300) {
                "\($1)\n"
            } read: {
                try await read($0.lines, &$1) { $0 }
            },
        ]
    }

    let work: String
    private let pieceSize: Int
    /// The least megabytes in a second.
    private let target: Double?
    private let write: @Sendable (_ number: Int, _ text: String) -> String
    private let read: @Sendable (StreamResponse, inout Arrived) async throws -> Void
    private let size = 64 << 20
    private let rounds = 15

    private init(
        _ parts: String, pieceSize: Int, target: Double? = nil,
        write: @escaping @Sendable (_ number: Int, _ text: String) -> String,
        read: @escaping @Sendable (StreamResponse, inout Arrived) async throws -> Void
    ) {
        work = "Parse \(parts), \(pieceSize < 1024 ? "\(pieceSize) byte" : "\(pieceSize >> 10) kB") pieces"
        self.pieceSize = pieceSize
        self.target = target
        self.write = write
        self.read = read
    }

    /// The texts that were read: how many, and their bytes.
    private struct Arrived: Equatable {
        /// What they must be, if they are compared.
        var expected: [String]?
        var count = 0
        var bytes = 0

        mutating func receive(_ text: String) {
            if let expected { require(expected[count] == text, "'\(text)' instead of '\(expected[count])'") }
            count += 1
            bytes += text.utf8.count
        }
    }

    /// Prints the row: the median of all rounds counts, after one in which every text was compared.
    func run() async throws {
        let texts = texts()
        let body = texts.enumerated().map { write($0, $1) }.joined()
        let response = { [pieces = Pieces(Data(body.utf8), size: pieceSize)] in
            try await URLSession.shared.stream(for: URLRequest(url: URL(string: "http://localhost")!)) {
                $0.logger = nil
                $0.transport = Transport { _ in .init(body: .init(pieces)) }
            }
        }
        let all = Arrived(count: texts.count, bytes: texts.reduce(0) { $0 + $1.utf8.count })
        var speeds: [Double] = []
        for round in 0...rounds {
            var arrived = Arrived(expected: round == 0 ? texts : nil)
            let cost = try await Cost.of { try await read(response(), &arrived) }
            arrived.expected = nil
            require(arrived == all, "\(arrived.count) of \(all.count) were read")
            if round > 0 { speeds.append(Double(body.utf8.count) / cost.processor * 1e3) }
        }
        let speed = speeds.quantile(0.5)
        Row(
            work: work, against: "300 MB/s", theirs: 300, ours: speed, unit: "MB/s", ratio: 300 / speed,
            target: target.map { 300 / $0 },
            note: "half of \(rounds) within \(Int(speeds.quantile(0.25)))-\(Int(speeds.quantile(0.75))) MB/s"
        ).print()
    }

    /// JSON of various lengths, so that an event has 100 to 200 bytes.
    private func texts() -> [String] {
        var texts: [String] = []
        var size = 0
        while size < self.size {
            let text = String(repeating: "word ", count: 12 + (texts.count &* 2_654_435_761 >> 16) % 17)
            texts.append(#"{"id":\#(1_000_000 + texts.count),"choices":[{"text":"\#(text)"}]}"#)
            size += write(texts.count, texts[texts.count - 1]).utf8.count
        }
        return texts
    }

    private static func read<Element>(
        _ elements: StreamResponse.Elements<Element>, _ arrived: inout Arrived, _ text: (Element) -> String
    ) async throws {
        for try await element in elements { arrived.receive(text(element)) }
    }
}

/// Pieces that are ready.
private struct Pieces: AsyncSequence, Sendable {
    let pieces: [Data]

    init(_ data: Data, size: Int) {
        pieces = stride(from: 0, to: data.count, by: size).map { Data(data[$0..<Swift.min($0 + size, data.count)]) }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: pieces[...]) }

    struct AsyncIterator: AsyncIteratorProtocol {
        var rest: ArraySlice<Data>

        mutating func next() async throws -> Data? { rest.popFirst() }
    }
}
