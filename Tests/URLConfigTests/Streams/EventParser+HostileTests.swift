import Testing

@testable import URLConfig

/// Streams that are too long, and the time and memory that parsers take.
@Suite(.oneAtATime) struct EventParserHostileTests {
    private static func text(_ count: Int) -> String { repeated("x", count) }

    private static func repeated(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }

    private static func chunks(_ text: String, of size: Int) -> [Data] {
        let bytes = Data(text.utf8)
        return stride(from: 0, to: bytes.count, by: size).map { Data(bytes[$0..<min($0 + size, bytes.count)]) }
    }

    private static let limits: [(stream: String, count: Int, isTooLong: Bool)] = [
        ("data:\(text(15))\n\n", 1, false), ("data:\(text(16))\n\n", 0, true),
        ("data:1\n\n:\(text(19))\n", 1, false), ("data:1\n\n:\(text(20))\n", 1, true),
        ("data:1\n\n:\(text(20))", 1, true), ("data:123\ndata:12345\ndata\n\n", 1, false),
        ("data:123\ndata:12345\ndata:12345\n", 0, false), ("data:123\ndata:12345\ndata:123456", 0, true),
        (repeated("data\n", 17) + "\n", 1, false), (repeated("data\n", 18) + "\n", 0, true),
        (repeated("data:1\n\n", 50), 50, false), ("event:\(text(10))\ndata:12345\n\n", 1, false),
        ("event:\(text(10))\ndata:123456\n\n", 0, true),
        ("event:\(text(10))\ndata:1234\n\nid:\(text(10))\ndata:1234\n\n", 2, false),
        ("id:\(text(8))\nevent:123456\n", 0, false), ("id:\(text(8))\nevent:1234567\n", 0, true),
    ]

    @Test(arguments: limits)
    func `the limit is for a line and what the event has so far`(stream: String, count: Int, isTooLong: Bool) {
        for split in Data(stream.utf8).splits {
            let parsed = ParsedStream<ServerSentEvent>(split, limit: 20)
            #expect(parsed.elements.count == count)
            #expect(parsed.reason == (isTooLong ? "an event of the body is longer than 20 B" : nil))
        }
    }

    @Test(arguments: [
        ("12345678\n\n12345678\r\n12345678", 4, false), ("1\n123456789\n", 1, true), ("1\n123456789", 1, true),
        ("\n\n123456789\n1", 2, true),
    ])
    func `the limit of lines is for each line`(body: String, count: Int, isTooLong: Bool) {
        for split in Data(body.utf8).splits {
            let parsed = ParsedStream<String>(split, limit: 8)
            #expect(parsed.elements.count == count)
            #expect(parsed.reason == (isTooLong ? "a line of the body is longer than 8 B" : nil))
        }
    }

    @Test func `the limit is 16 MB, and its error has a code`() throws {
        var parser = EventParser()
        parser.append(Data("data:".utf8) + Data(repeating: 0x61, count: 15_999_995) + Data("\n\n".utf8))
        #expect(try parser.next()?.data.utf8.count == 15_999_995)
        parser.append(Data(repeating: 0x61, count: 16_000_000))
        #expect(try parser.next() == nil)
        parser.append(Data("a".utf8))
        for _ in 0..<2 {
            let error = expectThrown(.responseTooLarge) { try parser.next() }
            #expect(error?.reason == "an event of the body is longer than 16.0 MB")
        }
    }

    @Test(arguments: [
        ("999999999999", Duration.seconds(999_999_999.999)), ("1000000000000", .seconds(1e9)),
        ("1000000000001", .seconds(1e9)), (String(repeating: "9", count: 5000), .seconds(1e9)),
        (String(repeating: "0", count: 5000) + "12", .milliseconds(12)), ("9223372036854775808", .seconds(1e9)),
    ])
    func `a huge time is clamped to about 30 years`(digits: String, time: Duration) {
        let retry = ParsedStream<ServerSentEvent>([Data("retry:\(digits)\n".utf8)]).retry
        #expect(retry.map { abs(($0 - time) / .milliseconds(1)) < 0.01 } == true)
    }

    @Test(arguments: [
        "\n", "\r", "\r\n", "data:1\r", "data\n", "data:1\r\r", "data:1\n\n", "::\n", "id:\u{301}\u{316}\n\n",
        "event:\u{301}\u{316}\u{301}\n", "\u{301}\u{316}", "9", "a",
    ])
    func `time is linear for one chunk`(part: String) {
        expectLinearTime(from: 40_000) { count in
            let text = Self.repeated(part, count / part.utf8.count)
            #expect(ParsedStream<ServerSentEvent>([Data(text.utf8)]).reason == nil)
            #expect(!ParsedStream<String>([Data(text.utf8)]).elements.isEmpty)
        }
    }

    @Test(arguments: [
        ("data:", "1", 40), ("data:1\n\nid:", "1", 40), ("event:1\ndata:1\ndata:", "1", 40), ("", "1", 40),
        ("data:", "1", 1), ("", "data:1\n\n", 1), ("", "\r\n", 1), ("", "id:1\rdata:1\r\r", 1), ("", "\r", 100_000),
    ])
    func `time is linear for a long line, and for short ones, in small chunks`(start: String, part: String, size: Int) {
        expectLinearTime(from: size > 40 ? size : 25_000 * size) { count in
            let chunks = Self.chunks(start + Self.repeated(part, count / part.utf8.count), of: size)
            #expect(ParsedStream<ServerSentEvent>(chunks).reason == nil)
        }
    }

    @Test func `time is linear if chunks arrive faster than events are read`() {
        expectLinearTime(from: 20_000) { count in
            var parser = EventParser()
            parser.append(Data(String(repeating: "data:1234567890\n\n", count: count).utf8))
            for _ in 0..<count {
                parser.append(Data("d".utf8))
                #expect((try? parser.next())??.data.utf8.count == 10)
            }
        }
    }

    @Test func `bytes that were read are not kept`() throws {
        var lines = LineSplitter(limit: 100, unit: "a line")
        func kept() throws -> [UInt8] {
            try #require(Mirror(reflecting: lines).descendant("bytes") as? [UInt8])
        }
        var peak = 0
        for chunk in Self.chunks(String(repeating: "a line of 22 bytes...\n", count: 10_000), of: 50) {
            lines.append(chunk)
            while try lines.nextPlace() != nil {}
            peak = try max(peak, kept().capacity)
        }
        #expect(peak < 1000)
        lines.append(Data(repeating: 0x0A, count: 1_000_000))
        while try lines.nextPlace() != nil {}
        lines.append(Data("a".utf8))
        #expect(try kept().capacity < 1000)
    }
}
