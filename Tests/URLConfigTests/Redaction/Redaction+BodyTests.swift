import Foundation
import Testing

@testable import URLConfig

/// Hides secrets in bodies that are shown, and in those of curl commands.
@Suite struct RedactionBodyTests {
    private func shown(_ text: String, _ type: MediaType?, limit: Int = .max) -> String {
        Redaction.standard.body(Data(text.utf8), type, limit: limit)
    }

    @Test func `nothing is shown of an empty body, or with no room`() {
        #expect(shown("", .json) == "")
        #expect(shown("x", .text, limit: 0) == "")
        #expect(shown("x", .text, limit: -1) == "")
    }

    @Test(arguments: [
        (
            #"{"next":"https://h.example/a?b=1&access_token=s3cret#c"}"#,
            #"{"next":"https://h.example/a?b=1&access_token=***#c"}"#
        ),
        (
            #"["https:\/\/h.example\/?b=1\u0026access_token=s3cret"]"#,
            #"["https:\/\/h.example\/?b=1\u0026access_token=***"]"#
        ),
        (#"{"a":"https://u:s3cret@h.example/"}"#, #"{"a":"https://***@h.example/"}"#),
        (#"{"a":"{\"password\":\"s3cret\",\"b\":1}"}"#, #"{"a":"{\"password\":\"***\",\"b\":1}"}"#),
        (#"{"a":"[{\"b\":\"{\\\"pin\\\":\\\"s3cret\\\"}\"}]"}"#, #"{"a":"[{\"b\":\"{\\\"pin\\\":\\\"***\\\"}\"}]"}"#),
        (#"{"a":"grant_type=password&password=s3cret"}"#, #"{"a":"grant_type=password&password=***"}"#),
        (#"{"a":"?token=s3cret"#, #"{"a":"?token=***"#),
    ])
    func `a secret within a string is hidden`(json: String, masked: String) {
        #expect(String(decoding: sent(Data(json.utf8), .json), as: UTF8.self) == masked)
        #expect(!shown(json, .json).contains("s3cret"))
        #expect(Redaction.none.body(Data(json.utf8), .json).contains("s3cret"))
    }

    @Test(arguments: [
        #"["a=b&c=d","ann@h.example","\"q\"\n\t\u00e9\/","https:\/\/h.example\/?a=1\u0026b=2","{\"a\":1}","[","\ud800=","x=\"]"#,
        #"{"a=b":"c@d","":"="}"#,
    ])
    func `strings without a secret stay as they are written`(json: String) {
        #expect(sent(Data(json.utf8), .json) == Data(json.utf8))
        #expect(shown(json, .json).filter { !" \n".contains($0) } == json.filter { !" \n".contains($0) })
    }

    @Test(arguments: 1...12)
    func `a body is cut between two characters`(limit: Int) {
        let text = "a\u{E9}\u{20AC}\u{1F600}b"  // 1, 2, 3, 4 and 1 bytes: 11 in all
        let whole = [1: 1, 3: 2, 6: 3, 10: 4, 11: 5]
        let count = whole.filter { $0.key <= limit }.map(\.value).max() ?? 0
        #expect(shown(text, .text, limit: limit) == text.prefix(count) + (limit < 11 ? "… (11 bytes in all)" : ""))
    }

    @Test(arguments: 1...43)
    func `a secret stays hidden wherever the body is cut`(limit: Int) {
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
            (Data([0xE9]), "text/plain; charset=nonsense", "<1 bytes text/plain>"),
            (Data("<a/>".utf8), "application/atom+xml", "<a/>"), (Data("x: 1".utf8), "application/yaml", "x: 1"),
            (Data("text".utf8), nil, "text"),
        ] as [(Data, MediaType?, String)])
    func `a body that is not text is summarized`(data: Data, type: MediaType?, expected: String) {
        #expect(Redaction.standard.body(data, type) == expected)
    }

    @Test func `a multipart body is summarized, not shown`() {
        #expect(shown("--b\r\n\r\ns3cret", "multipart/form-data; boundary=b") == "<13 bytes multipart/form-data>")
    }

    @Test func `control characters of a server are escaped`() {
        #expect(shown("\u{1B}]0;x\u{7}\u{202E}", .text) == "\\u{1b}]0;x\\u{7}\\u{202e}")
        #expect(shown("{\"a\":\"\u{1B}\"}", .json) == "{\n  \"a\" : \"\\u{1b}\"\n}")
    }

    @Test func `a body is laid out as JSON if its content type says so, or without one`() {
        #expect(shown(#"[1,{"token":2}]"#, .text) == #"[1,{"token":"***"}]"#)
        for type in [.json, "application/problem+json", nil] as [MediaType?] {
            #expect(shown(#" [1,{"token":2}]"#, type) == "[\n  1,\n  {\n    \"token\" : \"***\"\n  }\n]")
        }
    }

    private func multipart(_ parts: [String]) -> Data {
        Data((parts.map { "--b\r\n\($0)\r\n" } + ["--b--\r\n"]).joined().utf8)
    }

    private func sent(_ body: Data, _ type: MediaType = "multipart/form-data; boundary=b") -> Data {
        Redaction.standard.sentBody(body, type)
    }

    @Test func `hidden fields of a multipart body are masked`() {
        let parts = [
            ("Content-Disposition: form-data; name=\"title\"", "t", "t"),
            ("Content-Disposition: form-data; name=\"password\"", "s3cret\r\ns3cret", "***"),
            ("content-disposition: form-data; filename=\"x\"; NAME=\"api_key\"", "s3cret", "***"),
            ("Content-Disposition: form-data; name=token", "s3cret", "***"),
            ("Content-Disposition: form-data; name=\"file\"; filename=\"token\"", "f", "f"),
        ]
        let body = multipart(parts.map { "\($0.0)\r\n\r\n\($0.1)" })
        let expected = multipart(parts.map { "\($0.0)\r\n\r\n\($0.2)" })
        #expect(String(decoding: sent(body), as: UTF8.self) == String(decoding: expected, as: UTF8.self))
        #expect(Redaction.none.sentBody(body, "multipart/form-data; boundary=b") == body)
    }

    @Test func `a JSON part of a multipart body is masked too, and bytes stay`() {
        let json = "Content-Disposition: form-data; name=\"meta\"\r\nContent-Type: application/json\r\n\r\n"
        let body = multipart([json + #"{"a" : 1, "token" : "s3cret"}"#])
        #expect(sent(body) == multipart([json + #"{"a" : 1, "token" : "***"}"#]))
        let bytes = Data("--b\r\n\r\n".utf8) + Data(0...255) + Data("\r\n--b--\r\n".utf8)
        #expect(sent(bytes) == bytes)
    }

    @Test(arguments: ["name=\"a\"\r\nContent-Type: application/json; charset=utf-16le", "name=a; Charset=\"UTF-16LE\""])
    func `a part in a character set of its own is masked as a whole`(header: String) throws {
        let start = Data("--b\r\nContent-Disposition: form-data; \(header)\r\n\r\n".utf8)
        let end = Data("\r\n--b\r\nContent-Type: text/plain; charset=UTF-8\r\n\r\na\r\n--b--".utf8)
        let json = try #require(#"{"token":"s3cret"}"#.data(using: .utf16LittleEndian))
        #expect(sent(start + json + end) == start + Data("***".utf8) + end)
    }

    @Test func `a text that is not UTF-8 is masked too, and bytes stay`() {
        let latin = Data("user=".utf8) + [0xE9] + Data("&password=".utf8) + [0xE9, 0x73]
        #expect(sent(latin, .form) == Data("user=".utf8) + [0xE9] + Data("&password=***".utf8))
        let json = Data(#"{"a":""#.utf8) + [0xE9] + Data(#"","token":"s"}"#.utf8)
        #expect(sent(json, .json) == Data(#"{"a":""#.utf8) + [0xE9] + Data(#"","token":"***"}"#.utf8))
        let image = Data(#""token":"s""#.utf8) + [0xFF]
        #expect(sent(image, .png) == image)
    }

    @Test func `a text in the character set that is named is masked too`() throws {
        let json = try #require(#"{"a":1,"token":"s3cret"}"#.data(using: .utf16LittleEndian))
        #expect(sent(json, "application/json; charset=utf-16le") == Data(#"{"a":1,"token":"***"}"#.utf8))
        let plain = try #require(#"{"a":"\u{E9}"}"#.data(using: .utf16LittleEndian))
        #expect(sent(plain, "application/json; charset=utf-16le") == plain)
        let marked = Data([0xEF, 0xBB, 0xBF]) + Data(#"{"a":1}"#.utf8)
        #expect(sent(marked, "application/json; charset=utf-8") == marked)
    }
}
