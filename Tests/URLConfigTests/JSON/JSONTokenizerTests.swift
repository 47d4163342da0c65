import Testing

@testable import URLConfig

/// Finds the first fault of JSON, and reads on after it.
@Suite(.oneAtATime) struct JSONTokenizerTests {
    private static func checked(_ bytes: some Sequence<UInt8>) -> JSONTokenizer {
        var json = JSONTokenizer(bytes)
        json.check()
        return json
    }

    @Test(arguments: [
        (#"{"a":1 "b":2}"#, 7, #"expected "," or "}", found a quote"#),
        ("[1 2]", 3, #"expected "," or "]", found a digit"#),
        ("{a:1}", 1, "expected a name in quotes, found a letter"), ("[1,x]", 3, "expected a value, found a letter"),
        (#"{"a" 1}"#, 5, #"expected ":", found a digit"#), ("[1}", 2, #"expected "]", found "}""#),
        (#"{"a":1]"#, 6, #"expected "}", found "]""#), ("[1]]", 3, "unexpected data after the JSON value"),
        ("[trux]", 4, "expected true, found a letter"), ("[nul", 4, "expected null, found the end"),
        ("[01]", 1, "a malformed number"), ("[1.]", 1, "a malformed number"), ("[-]", 1, "a malformed number"),
        ("[1e+]", 1, "a malformed number"), ("[+1]", 1, "expected a value, found something else"),
        (#"["\q"]"#, 2, "an invalid escape"), (#"["\u12g4"]"#, 2, "an invalid escape"),
        (#"["\ud800"]"#, 2, "an invalid escape"), (#"["\udc00\ud800"]"#, 2, "an invalid escape"),
        (#"["\ud800x"]"#, 2, "an invalid escape"), ("[\"a\nb\"]", 3, "a control character in a string"),
        ("[1,]", 2, "a comma with nothing after it"), ("{\"a\":1,}", 6, "a comma with nothing after it"),
        ("[1,,2]", 3, #"expected a value, found ",""#), ("", 0, "expected a value, found the end"),
        ("-", 1, "expected a digit, found the end"), ("[NaN]", 1, "expected a value, found a letter"),
    ])
    func `the first fault is found, with its place`(text: String, offset: Int, words: String) {
        let fault = Self.checked(text.utf8).fault
        #expect(fault?.offset == offset)
        #expect(fault?.words == words)
    }

    @Test(
        arguments: [
            [0x5B, 0x22, 0xC3, 0x28, 0x22, 0x5D], [0x5B, 0x22, 0xED, 0xA0, 0x80, 0x22, 0x5D],
            [0x5B, 0x22, 0xC0, 0x80, 0x22, 0x5D],
            [0x5B, 0x22, 0xF4, 0x90, 0x80, 0x80, 0x22, 0x5D], [0x5B, 0x22, 0xE0, 0x80, 0x80, 0x22, 0x5D],
            [0x5B, 0x22, 0x80, 0x22, 0x5D],
        ] as [[UInt8]])
    func `bytes that are not UTF-8 are found`(bytes: [UInt8]) {
        #expect(Self.checked(bytes).fault?.words == JSONString.notUTF8)
        #expect(Self.checked(bytes).fault?.offset == 2)
    }

    @Test(arguments: [
        "[", "[1", "[1,", "{", "{\"a", "{\"a\"", "{\"a\":", "{\"a\":{", "[\"\\", "[\"\\u12", "[\"\\ud83d\\ude",
        "[\"ä\",tr", "[-", "[1.",
    ])
    func `a text that just ends is told from one that is wrong`(text: String) {
        #expect(Self.checked(text.utf8).fault?.offset == text.utf8.count)
    }

    @Test(arguments: [
        ("[1,2,-3]", nil), ("[1,2.5,1e3]", 6), ("[1e3]", 4), ("[18446744073709551615,-9223372036854775808]", nil),
        ("[18446744073709551616]", 21), ("[-9223372036854775809]", 21),
        ("[1\(String(repeating: "0", count: 40))]", 42), ("{\"a\":[0.5]}", 9),
        (#"["\ud83d\ude00",2.5]"#, 19),
    ])
    func `the first number that is no integer is found`(text: String, offset: Int?) {
        let json = Self.checked(text.utf8)
        #expect(json.fault?.words == nil)
        #expect(json.oddNumber?.offset == offset)
    }

    /// The tokens, with `!` before unexpected ones.
    private static func tokens(_ text: String) -> String {
        var json = JSONTokenizer(text.utf8)
        var tokens: [String] = []
        while let token = json.next() {
            let source = String(decoding: json.bytes[token.start..<json.position], as: UTF8.self)
            tokens.append((token.isExpected ? "" : "!") + source)
        }
        return tokens.joined(separator: " ")
    }

    @Test(arguments: [
        (#" {"a" : [1, true,"b]"]} "#, #"{ "a" : [ 1 , true , "b]" ] }"#), ("{a: 'b'}", "{ !a !: 'b' }"),
        ("[1 2]}{", "[ 1 !2 ] !} !{"), (#""a\"b""c"#, #""a\"b" !"c"#), (#"{"a"#, #"{ "a "#),
        (#"{"a":"#, #"{ "a" : "#),
        (#"f({"a":1,});"#, #"f( !{ "a" : 1 , } !);"#), ("data: {}", "data !: { }"), ("", ""), ("[,,", "[ !, !,"),
        ("{]", "{ ]"), ("\u{FEFF}[]", "\u{FEFF} ![ ]"),
    ])
    func `it reads on after a fault`(text: String, tokens: String) {
        #expect(Self.tokens(text) == tokens)
    }

    @Test(arguments: [511, 512, 513, 100_000])
    func `frames are kept down to the deepest level, and those below it are closed again`(depth: Int) {
        let opening = String(repeating: "[", count: depth)
        let text = opening + String(repeating: "]", count: depth)
        var json = JSONTokenizer(opening.utf8)
        while json.next() != nil {}
        #expect(json.depth == depth)
        #expect(Self.checked((opening + "x").utf8).fault?.frames.count == min(depth, 512))
        #expect(Self.checked(text.utf8).fault?.offset == (depth > 512 ? 512 : nil))
        let object = JSONTokenizer("{\"a\":\(text),\"b\":1}".utf8)
        #expect(object.member(JSONKey(stringValue: "b"), of: 0).exact?.value == 2 * depth + 10)
    }

    @Test(
        arguments: [
            "[", "]", "{\"a\":", "1,", "\"\\u0061\":1,", "\"", "\\", "\"a\" ", " ", "{}", ",", "\u{E9}", "\"\u{E9}\",",
            "-",
        ]
    )
    func `hostile text takes time in proportion to its length`(piece: String) {
        let growth = growth(from: 50_000) { count in
            let text = "{" + String(repeating: piece, count: count / piece.utf8.count)
            var json = Self.checked(text.utf8)
            while json.next() != nil {}
            #expect(json.member(JSONKey(stringValue: "b_c"), of: 0).exact == nil)
        }
        #expect(growth < 24)
    }

    /// Decodes the whole document: `JSONDecoder` checks only what is decoded.
    private struct Everything: Decodable {
        init(from decoder: any Decoder) throws {
            if let object = try? decoder.container(keyedBy: AnyKey.self) {
                for key in object.allKeys { _ = try object.decode(Everything.self, forKey: key) }
            } else if var array = try? decoder.unkeyedContainer() {
                while !array.isAtEnd { _ = try array.decode(Everything.self) }
            } else {
                let value = try decoder.singleValueContainer()
                guard !value.decodeNil(), (try? value.decode(Bool.self)) == nil else { return }
                do { _ = try value.decode(String.self) } catch DecodingError.typeMismatch {
                    _ = try value.decode(Double.self)
                }
            }
        }
    }

    private static func disagreements() -> (faults: [String], refused: Int) {
        var (faults, refused) = ([String](), 0)
        for seed in 0..<2000 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var json = RandomJSON(secret: "s3cr3t", &random)
            json.mutate(&random)
            let bytes = json.bytes
            // The tokenizer does not read UTF-16; a number may be well-formed and too large.
            let isLarge = String(decoding: bytes, as: UTF8.self).contains(/[eE]\+?\d{3}/)
            guard !bytes.prefix(4).contains(0), !isLarge else { continue }
            let isRead = (try? JSONDecoder().decode(Everything.self, from: Data(bytes))) != nil
            let fault = Self.checked(bytes).fault
            refused += isRead ? 0 : 1
            if isRead != (fault == nil), fault?.words != "a comma with nothing after it" {
                faults.append("\(seed): \(isRead), \(fault?.words ?? ""): \(String(decoding: bytes, as: UTF8.self))")
            }
        }
        return (faults, refused)
    }

    @Test func `what JSONDecoder reads to the end has no fault, what it refuses has one`() async throws {
        let (faults, refused) = try await OwnThread.run { Self.disagreements() }
        #expect(faults == [])
        #expect((200...1800).contains(refused))
    }
}
