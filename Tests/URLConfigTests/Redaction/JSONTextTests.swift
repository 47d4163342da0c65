import Foundation
import Testing

@testable import URLConfig

/// Masks and formats JSON, also invalid JSON.
@Suite(.oneAtATime) struct JSONTextTests {
    private func masked(_ text: String) -> String {
        String(decoding: Redaction.standard.sentBody(Data(text.utf8), .json), as: UTF8.self)
    }

    private func pretty(_ text: String) -> String {
        Redaction.standard.body(Data(text.utf8), .json)
    }

    @Test(arguments: [
        (#"{"token":"s3cret","a":1}"#, #"{"token":"***","a":1}"#),
        (#"{ "a" : [ {"b" : {"password" : "s3cret"}} ] }"#, #"{ "a" : [ {"b" : {"password" : "***"}} ] }"#),
        (#"{"pass\u0077ord":"s3cret"}"#, #"{"pass\u0077ord":"***"}"#),
        (#"{"\u0074oken":"s3cret"}"#, #"{"\u0074oken":"***"}"#),
        (#"{"pass\nword":"s3cret"}"#, #"{"pass\nword":"***"}"#),
        (#"{"pass\/word":"s3cret"}"#, #"{"pass\/word":"***"}"#),
        (#"{"tok\"en":"s3cret"}"#, #"{"tok\"en":"***"}"#),
        (#"{"a\\":1,"token":"s3cret"}"#, #"{"a\\":1,"token":"***"}"#),
        (#"{"token":["s3cret",{"x":"s3cret]"}],"a":1}"#, #"{"token":"***","a":1}"#),
        (#"{"token":{"x":["s3cret}"]},"a":1}"#, #"{"token":"***","a":1}"#),
        (#"{"pin":1234,"cvv":-1.5e3,"otp":null,"sig":true}"#, #"{"pin":"***","cvv":"***","otp":"***","sig":"***"}"#),
        (#"{"token":"s3\"cret","a":1}"#, #"{"token":"***","a":1}"#),
        (#"{"token":"s3cret\\","a":1}"#, #"{"token":"***","a":1}"#),
        (#"{"pin":1 }"#, #"{"pin":"***" }"#), (#"["token","s3"]"#, #"["token","s3"]"#),
        (#"{"a":"token"}"#, #"{"a":"token"}"#),
        (#"{"a":"\"token\":"}"#, #"{"a":"\"token\":"}"#),
        ("{\"token\"\n\t:\r\n \"s3cret\"}", "{\"token\"\n\t:\r\n \"***\"}"),
        (#"{"token":"","a":""}"#, #"{"token":"***","a":""}"#),
        (#"{"TOKEN":"s3cret","Token":"s3cret"}"#, #"{"TOKEN":"***","Token":"***"}"#),
    ])
    func `values of hidden members are masked, all else stays`(text: String, expected: String) {
        #expect(masked(text) == expected)
    }

    @Test(arguments: [
        #"{"token":"s3cret"#, #"{"token":"s3cret\"#, #"{"token":["s3cret","s3"#, #"{"token":{"a":{"b":"s3cret"}"#,
        #"{"a":1,"token": s3cret}"#, #"{"token":"s3cret"}{"token":"s3cret"}"#,
        "{\"token\":\"s3cret\"}\n{\"token\":\"s3cret\"}", #"data: {"token":"s3cret"}"#,
        #"callback({"token":"s3cret"});"#, #"}]}{"token":"s3cret"}"#, #""token":"s3cret""#,
        #"{"token":'s3cret s3cret'}"#, #"{"token":Bearer s3cret, "a":1}"#, #"{"token":/* x */ "s3cret"}"#,
        #"{"token": "s3cret" "#, #"{"token":[[[["s3cret"#, "\u{FEFF}{\"token\":\"s3cret\"}",
        #"{"\u00zz token":"s3cret"}"#, #"{"token""#, #"{"token":"#, "{\"a\":\"an odd quote\n\"token\":\"s3cret\"}",
        "{\"token\":\"s3\u{0}cret\"}", "{\"token\":\u{301}s3cret}", #"{"to\uD83D\uDE00ken":"s3cret"}"#,
    ])
    func `a secret stays hidden in invalid JSON`(text: String) {
        #expect(!masked(text).contains("s3"), "\(masked(text))")
        #expect(!pretty(text).contains("s3"), "\(pretty(text))")
    }

    @Test(arguments: [
        ("{}", "{}"), ("[]", "[]"), ("[ ]", "[]"), ("{ \n }", "{}"), ("[1,2]", "[\n  1,\n  2\n]"),
        (#"{"a":{"b":[]},"c":"x y"}"#, "{\n  \"a\" : {\n    \"b\" : []\n  },\n  \"c\" : \"x y\"\n}"),
        ("[1.0,1e5,-0,12345678901234567890.5]", "[\n  1.0,\n  1e5,\n  -0,\n  12345678901234567890.5\n]"),
        ("{}\n{}", "{}\n{}"), ("{} \n\n {}\n", "{}\n{}"), (#"["a\"b, [c]"]"#, "[\n  \"a\\\"b, [c]\"\n]"),
        ("  {\"a\":1}  ", "{\n  \"a\" : 1\n}"),
    ])
    func `JSON is laid out over lines`(text: String, expected: String) {
        #expect(pretty(text) == expected)
    }

    @Test func `a hidden value with a raw line break is hidden to its end`() {
        #expect(masked("{\"password\":\"abc\ndef\",\"a\":1}") == "{\"password\":\"***\",\"a\":1}")
    }

    @Test func `two documents stay two, secrets hidden in both`() {
        #expect(
            pretty("{\"token\":\"s3\"}\n{\"token\":\"s3\"}\n")
                == "{\n  \"token\" : \"***\"\n}\n{\n  \"token\" : \"***\"\n}")
    }

    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            ("[", ""), ("{\"a\":", ""), ("{\"token\":[", ""), ("[", "]"), (" ", ""), ("\"", ""), ("\\", ""),
            ("{} ", ""), ("\"\\u", ""), ("]", ""), (",", ""), ("\"a\" ", ""), ("{\"token\":", ""), ("{ ", ""),
            ("\n", "x"),
        ])
    func `hostile text takes time and room in proportion to its length`(piece: String, end: String) {
        // Linear time takes less than a second, quadratic time takes minutes.
        let count = 40_000
        let text = "{}" + String(repeating: piece, count: count) + String(repeating: end, count: count)
        #expect(pretty(text).utf8.count <= 50 * text.utf8.count)
        #expect(masked(text).utf8.count <= 5 * text.utf8.count)
    }

    @Test func `100,000 levels do not overflow a stack`() {
        let levels = String(repeating: "[", count: 100_000)
        let text = levels + "{\"token\":" + levels
        #expect(masked(text).hasSuffix(#"{"token":"***""#))
        #expect(pretty(text).hasSuffix(#""token" : "***""#))
    }
}
