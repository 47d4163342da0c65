import Testing

@testable import URLConfig

/// Random streams in random chunks, compared with a parser that does what the specification says, word by word.
@Suite struct EventParserRandomTests {
    private static let words: [String] = [
        "data", "data:", "data: ", "event", "event:", "event: a", "id", "id:", "id: 1", "id:\u{E9}", "retry:",
        "retry: 15", "retry:9", "1", ":", " ", "\n", "\n", "\n", "\n\n", "\r", "\r", "\r\n", "\r\n", "\r\n\r\n",
        "\0", "x", "\u{FEFF}", "\u{2026}", "\u{1F600}", "\u{85}", "\u{2028}", "\t", "data: abc\n", "id:2\n\n",
        "event: a type that is longer\n",
    ]
    private static let invalid: [[UInt8]] = [
        [0xFF], [0xE2], [0xE2, 0x80], [0x80], [0xF0, 0x9F], [0xC0], [0xEF, 0xBB], [0xBF],
    ]

    private static func stream(_ random: inout SeededGenerator) -> Data {
        var stream = Data()
        if Int.random(in: 0..<4, using: &random) == 0 { stream.append(contentsOf: [0xEF, 0xBB, 0xBF]) }
        for _ in 0..<Int.random(in: 0...60, using: &random) {
            if Int.random(in: 0..<6, using: &random) == 0 {
                stream.append(contentsOf: invalid.randomElement(using: &random) ?? [])
            } else {
                stream.append(contentsOf: (words.randomElement(using: &random) ?? "").utf8)
            }
        }
        return stream
    }

    /// Chunks of up to 9 bytes, even empty ones; some are slices of the stream.
    private static func chunks(of stream: Data, _ random: inout SeededGenerator) -> [Data] {
        var (chunks, rest): ([Data], Data) = ([], stream)
        while !rest.isEmpty {
            let chunk = rest.prefix(Int.random(in: 0...9, using: &random))
            rest = rest.dropFirst(chunk.count)
            chunks.append(Bool.random(using: &random) ? chunk : Data(chunk))
        }
        return chunks
    }

    /// The lines that end, and the rest; the whole text is decoded first.
    private static func lines(_ stream: Data) -> (lines: [String], rest: String) {
        var scalars = ArraySlice(Array(String(decoding: stream, as: UTF8.self).unicodeScalars))
        if scalars.first == "\u{FEFF}" { scalars.removeFirst() }
        var lines: [String] = []
        var line = ""
        while let scalar = scalars.popFirst() {
            guard scalar == "\n" || scalar == "\r" else {
                line.unicodeScalars.append(scalar)
                continue
            }
            if scalar == "\r", scalars.first == "\n" { scalars.removeFirst() }
            lines.append(line)
            line = ""
        }
        return (lines, line)
    }

    private static func events(_ stream: Data) -> ParsedStream<ServerSentEvent> {
        var parsed = ParsedStream<ServerSentEvent>()
        var (data, type, id) = ("", "", "")
        for line in lines(stream).lines {
            if line.isEmpty {
                parsed.lastEventID = id
                if !data.isEmpty {
                    data.unicodeScalars.removeLast()
                    let event = ServerSentEvent(event: type.isEmpty ? "message" : type, data: data, id: id)
                    parsed.elements.append(event)
                }
                (data, type) = ("", "")
                continue
            }
            let parts = line.unicodeScalars.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            var value = parts.count > 1 ? parts[1] : Substring("").unicodeScalars
            if value.first == " " { value.removeFirst() }
            switch String(parts[0]) {
            case "event": type = String(value)
            case "data": data += String(value) + "\n"
            case "id": if !value.contains("\0") { id = String(value) }
            case "retry":
                if !value.isEmpty, value.allSatisfy({ "0"..."9" ~= $0 }), let time = Int(String(value)) {
                    parsed.retry = .milliseconds(time)
                }
            default: break
            }
        }
        return parsed
    }

    @Test(arguments: 0..<20)
    func `events of random streams`(block: UInt64) {
        for seed in block * 100..<(block + 1) * 100 {
            var random = SeededGenerator(seed: seed)
            let stream = Self.stream(&random)
            let chunks = Self.chunks(of: stream, &random)
            #expect(ParsedStream<ServerSentEvent>(chunks) == Self.events(stream), "\(seed)")
        }
    }

    @Test(arguments: 0..<20)
    func `lines of random bodies`(block: UInt64) {
        for seed in block * 100..<(block + 1) * 100 {
            var random = SeededGenerator(seed: seed)
            let body = Self.stream(&random)
            let chunks = Self.chunks(of: body, &random)
            let (lines, rest) = Self.lines(body)
            #expect(ParsedStream<String>(chunks).elements == lines + (rest.isEmpty ? [] : [rest]), "\(seed)")
        }
    }

}
