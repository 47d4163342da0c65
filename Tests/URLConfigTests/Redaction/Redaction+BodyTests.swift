import Testing

@testable import URLConfig

/// Bodies as they are logged, and in curl commands.
@Suite(.oneAtATime) struct RedactionBodyTests {
    private func shown(_ text: String, _ type: MediaType?, limit: Int = .max) -> String {
        Redaction.standard.body(Data(text.utf8), type, limit: limit)
    }

    private func sent(_ body: Data, _ type: MediaType = "multipart/form-data; boundary=b") -> Data {
        Redaction.standard.sentBody(body, type)
    }

    private func masked(_ text: String) -> String { String(decoding: sent(Data(text.utf8), .json), as: UTF8.self) }

    @Test(arguments: [
        (#"{ "a" : [ {"b" : {"password" : "s3cret"}} ] }"#, #"{ "a" : [ {"b" : {"password" : "***"}} ] }"#),
        (#"{"pass\u0077ord":"s3cret","\u0074oken":"s3cret"}"#, #"{"pass\u0077ord":"***","\u0074oken":"***"}"#),
        (#"{"pass\nword":"s3cret","tok\"en":"s3cret"}"#, #"{"pass\nword":"***","tok\"en":"***"}"#),
        (#"{"a\\":1,"token":"s3cret"}"#, #"{"a\\":1,"token":"***"}"#),
        (#"{"token":["s3cret",{"x":"s3cret]"}],"a":1}"#, #"{"token":["***",{"x":"***"}],"a":1}"#),
        (#"{"token":{"x":["s3cret}"]},"a":1}"#, #"{"token":{"x":["***"]},"a":1}"#),
        (#"{"token":"s3\"cret\\","a":1}"#, #"{"token":"***","a":1}"#), (#"{"pin":1 }"#, #"{"pin":"***" }"#),
        (#"["token","s3",{"a":"token"}]"#, #"["token","s3",{"a":"token"}]"#),
        (#"{"a":"\"token\":"}"#, #"{"a":"\"token\":"}"#),
        ("{\"token\"\n\t:\r\n \"s3cret\"}", "{\"token\"\n\t:\r\n \"***\"}"),
        ("{\"password\":\"abc\ndef\",\"a\":1}", "{\"password\":\"***\",\"a\":1}"),
        (#"{"next":"https://h.example/a?b=1&token=s3cret#c"}"#, #"{"next":"https://h.example/a?b=1&token=***#c"}"#),
        (#"["https:\/\/h.example\/?b=1\u0026token=s3cret"]"#, #"["https://h.example/?b=1&token=***"]"#),
        (#"{"a":"https://u:s3cret@h.example/"}"#, #"{"a":"https://***@h.example/"}"#),
        (#"{"a":"{\"password\":\"s3cret\",\"b\":1}"}"#, #"{"a":"{\"password\":\"***\",\"b\":1}"}"#),
        (#"{"a":"[{\"b\":\"{\\\"pin\\\":\\\"s3\\\"}\"}]"}"#, #"{"a":"[{\"b\":\"{\\\"pin\\\":\\\"***\\\"}\"}]"}"#),
        (#"{"a":"grant_type=password&password=s3cret"}"#, #"{"a":"grant_type=password&password=***"}"#),
        (#"{"a":"?token=s3cret"#, #"{"a":"?token=***"#), (#"{"ghp_abcdefgh12345":1}"#, #"{"***":1}"#),
    ])
    func `values of hidden members are masked, all else stays`(text: String, expected: String) {
        #expect(masked(text) == expected)
        #expect(!shown(text, .json).contains("s3cret"))
        #expect(Redaction.none.sentBody(Data(text.utf8), .json) == Data(text.utf8))
    }

    @Test(arguments: [
        (#"payload={"access_token":"s3cret","pin":1234}&x=1"#, #"payload={"access_token":"***","pin":"***"}&x=1"#),
        (#"a=1&b=[{"url":"/?a=1&b=2","password":"s3 cret"}]"#, #"a=1&b=[{"url":"/?a=1&b=2","password":"***"}]"#),
        (#"{"token":"s3cret&s3cret","a":"b+c"}"#, #"{"token":"***","a":"b+c"}"#),
        (#"a={"b":"c\nd"}&password=s3 cret&e={f}"#, #"a={"b":"c\nd"}&password=***&e={f}"#),
        (#"a=%7B%22pin%22:%221%22%7D&b={"pin":"1"}"#, #"a=%7B%22pin%22%3A%22***%22%7D&b={"pin":"***"}"#),
        ("user[name]=ann&user[token]=s3cret&a={b", "user[name]=ann&user[token]=***&a={b"),
    ])
    func `JSON in a form that is not encoded is masked`(text: String, expected: String) {
        #expect(shown(text, .form) == expected)
        #expect(sent(Data(text.utf8), .form) == Data(expected.utf8))
    }

    @Test(arguments: [
        #"{"token":"s3cret"#, #"{"token":"s3cret\"#, #"{"token":["s3cret","s3"#, #"{"token":{"a":{"b":"s3cret"}"#,
        #"{"a":1,"token": s3cret}"#, #"{"token":"s3cret"}{"token":"s3cret"}"#, #"data: {"token":"s3cret"}"#,
        "{\"token\":\"s3cret\"}\n{\"token\":\"s3cret\"}", #"callback({"token":"s3cret"});"#, #"}]}{"token":"s3cret"}"#,
        #""token":"s3cret""#, #"{"token":'s3cret s3cret'}"#, #"{"token":Bearer s3cret, "a":1}"#,
        #"{"token":/* x */ "s3cret"}"#, #"{"token": "s3cret" "#, #"{"token":[[[["s3cret"#,
        "\u{FEFF}{\"token\":\"s3cret\"}",
        #"{"\u00zz token":"s3cret"}"#, #"{"token""#, #"{"token":"#, "{\"a\":\"an odd quote\n\"token\":\"s3cret\"}",
        "{\"token\":\"s3\u{0}cret\"}", "{\"token\":\u{301}s3cret}", #"{"to\uD83D\uDE00ken":"s3cret"}"#,
        #"[{"value":"s3cret" "name":"token"}]"#, #"{"name":"token","value":"s3cret"#,
    ])
    func `a secret stays hidden in invalid JSON`(text: String) {
        #expect(!masked(text).contains("s3"), "\(masked(text))")
        #expect(!shown(text, .json).contains("s3"), "\(shown(text, .json))")
    }

    @Test(arguments: [
        ("[1 2, true\nfalse]", "[\n  1 2,\n  true false\n]"),
        ("{}", "{}"), ("[]", "[]"), ("[ ]", "[]"), ("{ \n }", "{}"), ("[1,2]", "[\n  1,\n  2\n]"),
        (#"{"a":{"b":[]},"c":"x y"}"#, "{\n  \"a\" : {\n    \"b\" : []\n  },\n  \"c\" : \"x y\"\n}"),
        ("[1.0,1e5,-0,12345678901234567890.5]", "[\n  1.0,\n  1e5,\n  -0,\n  12345678901234567890.5\n]"),
        ("{}\n{}", "{}\n{}"), ("{} \n\n {}\n", "{}\n{}"), (#"["a\"b, [c]"]"#, "[\n  \"a\\\"b, [c]\"\n]"),
        ("  {\"a\":1}  ", "{\n  \"a\" : 1\n}"),
        ("{\"pin\":1}\n{\"pin\":2}\n", "{\n  \"pin\" : \"***\"\n}\n{\n  \"pin\" : \"***\"\n}"),
        ("{\"a\":\"\u{1B}\"}", "{\n  \"a\" : \"\\u{1b}\"\n}"),
    ])
    func `JSON is laid out over lines`(text: String, expected: String) {
        #expect(shown(text, .json) == expected)
        #expect(shown(text, nil) == expected && shown(text, .problem) == expected)
        #expect(!shown(text, .text).contains("\n  "))
    }

    @Test(
        .inTime,
        arguments: [
            ("[", ""), ("{\"a\":", ""), ("{\"token\":[", ""), ("[", "]"), (" ", ""), ("\"", ""), ("\\", ""),
            ("{} ", ""),
            ("\"\\u", ""), ("]", ""), (",", ""), ("\"a\" ", ""), ("{\"token\":", ""), ("{ ", ""), ("\n", "x"),
        ])
    func `hostile JSON takes time and room in proportion to its length`(piece: String, end: String) {
        // Linear time takes less than a second, quadratic time takes minutes, and recursion overflows the stack.
        let count = 40_000
        let text = "{}" + String(repeating: piece, count: count) + String(repeating: end, count: count)
        #expect(shown(text, .json).utf8.count <= 50 * text.utf8.count)
        #expect(masked(text).utf8.count <= 5 * text.utf8.count)
    }

    @Test func `nothing is shown of an empty body, or with no room`() {
        #expect(shown("", .json) == "" && shown("x", .text, limit: 0) == "" && shown("x", .text, limit: -1) == "")
    }

    @Test(arguments: 1...12) func `a body is cut between two characters`(limit: Int) {
        let text = "a\u{E9}\u{20AC}\u{1F600}b"  // 1, 2, 3, 4 and 1 bytes: 11 in all
        let whole = [1: 1, 3: 2, 6: 3, 10: 4, 11: 5]
        let count = whole.filter { $0.key <= limit }.map(\.value).max() ?? 0
        #expect(shown(text, .text, limit: limit) == text.prefix(count) + (limit < 11 ? "… (11 bytes in all)" : ""))
    }

    @Test(arguments: 1...43) func `a secret stays hidden wherever the body is cut`(limit: Int) {
        #expect(!shown(#"{"a":1,"token" : "s3cret","password":"s3"}"#, .json, limit: limit).contains("s3"))
        #expect(!shown("a=1&token=s3cret&b=2&password=s3cret&c=3333", .form, limit: limit).contains("s3"))
    }

    @Test(
        arguments: [
            (Data([0x89, 0x50, 0x4E, 0x47]), .png, "<4 bytes image/png>"),
            (Data("text".utf8), .octetStream, "<4 bytes application/octet-stream>"), (Data([0xFF]), nil, "<1 bytes>"),
            (Data([0xFF, 0xC0, 0x80, 0xFF, 0xFF]), .json, "<5 bytes application/json>"),
            (Data([0x61, 0]), .text, "<2 bytes text/plain>"), (Data([0x80, 0x80]), .text, "<2 bytes text/plain>"),
            (Data([0xE9]), "text/plain; charset=iso-8859-1", "\u{E9}"),
            (Data([0xE9]), "text/plain; charset=nonsense", "<1 bytes text/plain>"), (Data("text".utf8), nil, "text"),
            (Data("\u{1B}]0;x\u{7}\u{202E}".utf8), .text, "\\u{1b}]0;x\\u{7}\\u{202e}"),
            (Data("--b".utf8), "multipart/form-data", "<3 bytes multipart/form-data>"),
        ] as [(Data, MediaType?, String)])
    func `a body that is not text is summarized`(data: Data, type: MediaType?, expected: String) {
        #expect(Redaction.standard.body(data, type) == expected)
    }

    // Multipart forms and character sets.

    private func multipart(_ parts: [String]) -> Data {
        Data((parts.map { "--b\r\n\($0)\r\n" } + ["--b--\r\n"]).joined().utf8)
    }

    @Test func `parts of a multipart form are hidden by their names, searched by their types, or summarized`() throws {
        let parts = [
            ("Content-Disposition: form-data; name=\"title\"", "t", "t"),
            ("Content-Disposition: form-data; name=\"password\"", "s3cret\r\ns3cret", "***"),
            ("content-disposition: form-data; filename=\"x\"; NAME=\"api_key\"", "s3cret", "***"),
            ("Content-Disposition: form-data; name=token", "s3cret", "***"),
            ("Content-Disposition: form-data; name=\"file\"; filename=\"token\"", "f", "f"),
            (
                "Content-Type: application/json\r\nContent-Disposition: form-data; name=a", #"{"token" : "s3"}"#,
                #"{"token" : "***"}"#
            ),
            ("Content-Type: image/png", "\u{0}", "<1 bytes image/png>"), ("Content-Type: a/b", "s3", "<2 bytes a/b>"),
            ("Content-Type: application/json; charset=utf-16le", "s3", "<2 bytes application/json>"),
            (
                "Content-Type: multipart/mixed; boundary=c", "--c\r\n\r\ntoken=s3\r\n--c--",
                "--c\r\n\r\ntoken=***\r\n--c--"
            ),
            ("Content-Type: nonsense", "s3", "<2 bytes application/octet-stream>"),
        ]
        let body = multipart(parts.map { "\($0.0)\r\n\r\n\($0.1)" })
        let expected = multipart(parts.map { "\($0.0)\r\n\r\n\($0.2)" })
        #expect(String(decoding: sent(body), as: UTF8.self) == String(decoding: expected, as: UTF8.self))
        #expect(Redaction.none.sentBody(body, "multipart/form-data; boundary=b") == body)
        let text = String(decoding: expected, as: UTF8.self).escapingControls
        #expect(Redaction.standard.body(body, "multipart/form-data; boundary=b") == text)
    }

    @Test func `text before and after the parts is searched`() {
        let body = "token=s3\r\n--b\r\nA: b\r\n\r\nx\r\n--b--\r\n{\"token\":\"s3\"}\r\n"
        let shown = "token=***\r\n--b\r\nA: b\r\n\r\nx\r\n--b--\r\n{\"token\":\"***\"}\r\n"
        #expect(String(decoding: sent(Data(body.utf8)), as: UTF8.self) == shown)
    }

    @Test(arguments: ["", "--b", "--b\r\n", "\r\n--b--", "a\r\n--b\r\n\r\nx", "--b\r\na\r\n\r\n", "--b\r\n\r\n\r\n--b"])
    func `a multipart form without a secret stays as it is, whole or not`(text: String) {
        #expect(sent(Data(text.utf8)) == Data(text.utf8))
    }

    @Test func `text in another character set is masked, and stays if there is no secret`() throws {
        let latin = Data("user=".utf8) + [0xE9] + Data("&password=".utf8) + [0xE9, 0x73]
        #expect(sent(latin, .form) == Data("user=".utf8) + [0xE9] + Data("&password=***".utf8))
        let json = Data(#"{"a":""#.utf8) + [0xE9] + Data(#"","token":"s"}"#.utf8)
        #expect(sent(json, .json) == Data(#"{"a":""#.utf8) + [0xE9] + Data(#"","token":"***"}"#.utf8))
        let wide = try #require(#"{"a":1,"token":"s3cret"}"#.data(using: .utf16LittleEndian))
        #expect(sent(wide, "application/json; charset=utf-16le") == Data(#"{"a":1,"token":"***"}"#.utf8))
        let plain = try #require(#"{"a":"\u{E9}"}"#.data(using: .utf16LittleEndian))
        #expect(sent(plain, "application/json; charset=utf-16le") == plain)
        let markup = try #require("<a>password=s3cret</a>".data(using: .utf16))
        #expect(sent(markup, "text/plain; charset=utf-16") == Data(markup.summary("text/plain; charset=utf-16").utf8))
        let marked = Data([0xEF, 0xBB, 0xBF]) + Data(#"{"a":1}"#.utf8)
        #expect(sent(marked, "application/json; charset=utf-8") == marked)
    }
}
