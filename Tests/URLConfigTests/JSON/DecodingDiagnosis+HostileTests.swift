import Testing
import URLConfig

/// Content that is made to crash the diagnosis, or to take much memory or time.
@Suite(.oneAtATime) struct DecodingDiagnosisHostileTests {
    /// A decoder that fails at a given path.
    struct Failing: ResponseDecoder {
        var names: [String] = []
        var isSyntax = false

        func decode<Model: Decodable>(_ type: Model.Type, from data: Data) throws -> Model {
            let path = names.map { name in Int(name).map { AnyKey(intValue: $0) } ?? AnyKey(stringValue: name) }
            let context = DecodingError.Context(
                codingPath: path, debugDescription: isSyntax ? "The given data was not valid JSON." : "told to")
            throw isSyntax ? DecodingError.dataCorrupted(context) : .typeMismatch(Int.self, context)
        }
    }

    private static let size = 10_000_000

    @Test(
        .inTime,
        arguments: [
            ("", "[", ""), ("{\"a\":\"", "x", "\"}"), ("[\"", "\\", "\"]"), ("[", "1,", "1]"), ("[", ",", "]"),
            ("{", "\"\\u0061\":1,", "\"b\":1}"), ("{", "\"b_\":1,", "\"c\":1}"), ("{\"token", "-", "\":\"s3cret\"}"),
            ("<html>", "<title", ""), ("token=", "s3cret%", ""),
        ])
    func `ten megabytes are explained in the time of half of one, and not shown`(
        start: String, piece: String, end: String
    ) async throws {
        for decoder in [Failing(isSyntax: true), Failing(names: [start.first == "{" ? "b" : "249999"])] {
            let ((_, short), (text, long)) = try await OwnThread.run {
                let explained = { (size: Int) in
                    let text = start + String(repeating: piece, count: size / piece.utf8.count) + end
                    let content = Data(text.utf8)
                    return processorTime { DecodingDiagnosisTests.text(Int.self, content, decoder: decoder) }
                }
                return (explained(Self.size / 200), explained(Self.size))
            }
            // Only the first 500 kB are read, which is ten times the short one.
            #expect(long < 20 * short + 0.5)
            #expect(text.utf8.count < 2000)
            #expect(!text.contains("s3cret"))
        }
    }

    @Test func `only the beginning of a large content is looked at`() {
        let content = Data(("[" + String(repeating: "0,", count: 300_000) + "x]").utf8)
        let fault = DecodingDiagnosisTests.text([Int].self, content)
        #expect(fault.hasSuffix("it is not valid JSON; the first 500.0 kB are valid, the rest was not searched"))
        let late = DecodingDiagnosisTests.text(Int.self, content, decoder: Failing(names: ["299999"]))
        #expect(late.hasSuffix("\n  (the place was not found in the first 500.0 kB)"))
        let early = DecodingDiagnosisTests.text(Int.self, content, decoder: Failing(names: ["249998"]))
        #expect(early.contains("\n    0,  ← here\n"))
    }

    @Test func `a million levels do not overflow a stack`() {
        for piece in ["[", "{\"a\":"] {
            let content = String(repeating: piece, count: 1_000_000)
            let text = DecodingDiagnosisTests.text([Int].self, content.utf8)
            #expect(text.contains("more than 512 levels, the most that JSONDecoder reads, at byte"))
        }
    }

    @Test func `names found only by likeness, one inside the other, do not take time that grows with the square`() {
        expectLinearTime(from: 100) { levels in
            let content =
                String(repeating: "{\"view_count\":", count: levels) + "1"
                + String(repeating: ",\"pad\":\"\(String(repeating: "x", count: 1000))\"}", count: levels)
            let path = Array(repeating: "viewCount", count: levels)
            let text = DecodingDiagnosisTests.text(Int.self, content.utf8, decoder: Failing(names: path))
            #expect(levels < 400 || text.hasSuffix("(the place was not found in the first 409.6 kB)"))
        }
    }

    @Test func `a long name is neither searched nor shown in full`() {
        let name = String(repeating: "x", count: 1_000_000)
        let text = DecodingDiagnosisTests.text([String: Int].self, "{\"\(name)\":\"s3cret\"}".utf8)
        #expect(text.utf8.count < 500)
        #expect(!text.contains("s3cret"))
    }

    @Test func `a server cannot forge a line or a terminal's output`() {
        let text = DecodingDiagnosisTests.text(
            [String: Int].self, "{\"a\\nfake: \\u001b[2J\u{202E}\":\"\u{85}\u{1B}x\ny\"}".utf8)
        #expect(text.contains(#"a\nfake: \u{1b}[2J\u{202e} is a string, expected Int"#))
        #expect(text.split(separator: "\n").count == 4)
        #expect(!text.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" || $0 == "\u{85}" || $0 == "\u{202E}" })
    }
}
