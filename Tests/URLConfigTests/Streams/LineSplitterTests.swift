import Testing

@testable import URLConfig

/// Lines of text, however the body is cut into chunks.
@Suite struct LineSplitterTests {
    private static let texts: [(body: String, lines: [String])] = [
        ("", []), ("a", ["a"]), ("a\n", ["a"]), ("a\nb", ["a", "b"]), ("\n", [""]), ("\n\n", ["", ""]),
        ("\r", [""]), ("\r\n", [""]), ("\n\r", ["", ""]), ("\r\r\n", ["", ""]), ("\r\n\r\n", ["", ""]),
        ("\r\n\n\r", ["", "", ""]), ("a\r\nb\rc\nd", ["a", "b", "c", "d"]), ("a\r\n\r\n\r\nb", ["a", "", "", "b"]),
        ("a\r\rb\n\nc", ["a", "", "b", "", "c"]), ("\u{FEFF}", []), ("\u{FEFF}\n", [""]), ("\u{FEFF}a", ["a"]),
        ("\u{FEFF}\u{FEFF}a\n\u{FEFF}", ["\u{FEFF}a", "\u{FEFF}"]), ("\n\u{FEFF}a", ["", "\u{FEFF}a"]),
        ("{\"a\": \"\u{E9}\"}\n{\"b\": \"\u{1F600}\"}\r\n", ["{\"a\": \"\u{E9}\"}", "{\"b\": \"\u{1F600}\"}"]),
        ("a\0b\u{B}c\u{C}d\u{85}e\u{2028}f\u{2029}", ["a\0b\u{B}c\u{C}d\u{85}e\u{2028}f\u{2029}"]),
        ("e\n\u{301}", ["e", "\u{301}"]), (" a \t\r\n ", [" a \t", " "]),
    ]

    private func expect(_ lines: [String], of body: Data) {
        let wrong = body.splits.map { ParsedStream<String>($0).elements }.filter { $0 != lines }
        #expect(wrong.isEmpty, "first: \(wrong.first as Any)")
    }

    @Test(arguments: texts)
    func `a body gives the same lines, however it is cut`(body: String, lines: [String]) {
        expect(lines, of: Data(body.utf8))
    }

    @Test(
        arguments: [
            ([0xEF, 0xBB], ["\u{FFFD}"]),
            ([0xFF, 0x0A, 0xE2, 0x80, 0x0D, 0x0A, 0xA6], ["\u{FFFD}", "\u{FFFD}", "\u{FFFD}"]),
            ([0x61, 0xF0, 0x9F, 0x98, 0x62, 0xC0, 0x80], ["a\u{FFFD}b\u{FFFD}\u{FFFD}"]),
            ([0xEF, 0xBB, 0x0A, 0xBF], ["\u{FFFD}", "\u{FFFD}"]),
        ] as [([UInt8], [String])])
    func `bytes that are not UTF-8 are replaced`(bytes: [UInt8], lines: [String]) {
        expect(lines, of: Data(bytes))
    }

    @Test func `a line is returned with the first byte of its terminator`() throws {
        var lines = LineSplitter()
        lines.append(Data("a\r".utf8))
        #expect(try lines.next() == "a")
        #expect(try lines.next() == nil)
        lines.append(Data())
        #expect(try lines.next() == nil)
        lines.append(Data("\n".utf8))
        #expect(try lines.next() == nil)
        lines.append(Data("\nb\r".utf8))
        #expect(try lines.next() == "")
        #expect(try lines.next() == "b")
        #expect(lines.end() == nil)
    }

    @Test func `the last line is returned once`() throws {
        var lines = LineSplitter()
        lines.append(Data("a\nb".utf8))
        #expect(try lines.next() == "a")
        #expect(try lines.next() == nil)
        #expect(lines.end() == "b")
        #expect(lines.end() == nil)
        #expect(try lines.next() == nil)
    }
}
