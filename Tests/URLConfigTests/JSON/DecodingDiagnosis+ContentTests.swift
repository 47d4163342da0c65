import Testing

@testable import URLConfig

/// The kind of content, and errors in the responses of services.
@Suite struct DecodingDiagnosisContentTests {
    @Test(
        arguments: [
            ("", .empty), (" \r\n\t", .empty), ("\u{FEFF}", .empty), ("{", .json), (" [1]", .json),
            ("\u{FEFF}{}", .json),
            ("\"a\"", .json), ("-12.5e3\n", .json), ("null", .json), (" true ", .json), ("nullify", .text),
            ("404 page not found", .text), ("upstream error", .text), (")]}',\n{}", .text), ("{\u{1}", .json),
            ("<!doctype HTML><TITLE lang=en>\n Oops </title>", .html(title: "Oops")),
            ("<html><title></title>", .html(title: nil)),
            ("\n<html><title", .html(title: nil)), ("<head><title>a", .html(title: "a")),
            ("<?xml version='1.0'?><a/>", .xml),
            ("<a><b/></a>", .xml), ("[\u{0}1\u{0}]\u{0}", .wideText), ("\u{0}[\u{0}1\u{0}]", .wideText),
            ("\u{1F}x\u{8}\u{0}", .binary), ("PK\u{3}\u{4}", .binary),
        ] as [(String, ContentKind)])
    func `the kind is told from the first bytes`(content: String, kind: ContentKind) {
        #expect(ContentKind(Data(content.utf8)) == kind)
        // A slice of other data: its indices do not start at zero.
        #expect(ContentKind(Data("xy\(content)".utf8).dropFirst(2)) == kind)
    }

    @Test func `a byte order mark tells UTF-16`() {
        #expect(ContentKind(Data([0xFF, 0xFE, 0x7B, 0])) == .wideText)
        #expect(ContentKind(Data([0xFE, 0xFF, 0, 0x7B])) == .wideText)
    }

    private func message(_ json: String, _ type: String = "application/json", _ status: HTTPResponse.Status = .ok)
        -> String?
    {
        ErrorEnvelope.message(
            in: DataResponseTests.response(json.utf8, contentType: type, status: status), but: nil, .standard)
    }

    @Test(
        arguments: [
            (#"{"error":"nope"}"#, "nope"), (#"{"error":{"code":1,"message":"nope"}}"#, "nope"),
            (#"{"Error":{"Message":"nope"}}"#, "nope"), (#"{"errors":[{"message":"one"},{"message":"two"}]}"#, "one"),
            (#"{"errors":["one"]}"#, "one"), (#"{"errors":[{"status":"4","detail":"one"}]}"#, "one"),
            (#"{"error":"invalid_grant","error_description":"expired"}"#, "expired"),
            (#"{"message":"Not Found","code":404}"#, "Not Found"), (#"{"success":false,"message":"no"}"#, "no"),
            (#"{"message":"Hi Bob","title":"Rome","detail":"x"}"#, nil),
            (#"{"fault":{"faultstring":"quota"}}"#, "quota"), (#"{"error":"say \"hi\"\u0021"}"#, #"say "hi"!"#),
            (#"{"error":{"token":"s3cret"}}"#, nil), (#"{"error":null}"#, nil), (#"{"error":false}"#, nil),
            (#"{"errors":[]}"#, nil),
            (#"{"error":""}"#, nil), (#"{"a":1}"#, nil), ("[]", nil), ("{", nil),
            (#"{"error":"token=s3cret"}"#, "token=***"), (#"{"error":"one.\ntwo\ta"}"#, #"one.\ntwo\ta"#),
            (#"{"error":"\ud800a"}"#, "a"),
            (#"{"a":1,"b":2,"c":3,"d":4,"message":"m"}"#, nil),
        ])
    func `the message is found`(json: String, expected: String?) {
        #expect(message(json) == expected)
    }

    @Test func `problem details and failures are taken at their word`() {
        let problem = #"{"type":"t","title":"Out of credit","status":403,"detail":"You have 30","instance":"/a"}"#
        #expect(message(problem, "application/problem+json") == "You have 30")
        #expect(message(problem, "application/json", .forbidden) == "You have 30")
        #expect(message(problem) == nil)
    }

    @Test(arguments: [
        #"{"id":"x","title":"Rome"}"#, #"{"id":1,"message":"Hi Bob"}"#, #"{"code":1,"id":"x","message":"Hi"}"#,
    ])
    func `a model that does not fit is not taken for an error`(json: String) {
        struct Model: Decodable {
            var id: Int
            var title: String
        }
        let response = DataResponseTests.response(json.utf8)
        let error = #expect(throws: RequestError.self) { try response.decode(Model.self) }
        #expect(error?.reason.contains("error") == false)
    }

    @Test func `a member that the model has is no sign of an error`() {
        struct Model: Decodable { var error: Int }
        let response = DataResponseTests.response(#"{"error":"x"}"#.utf8)
        let error = #expect(throws: RequestError.self) { try response.decode(Model.self) }
        #expect(error?.reason.hasSuffix("error is a string, expected Int") == true)
    }
}
