import Testing

@testable import URLConfig

/// Text of a server in every place where an error shows it.
@Suite struct RedactionWordsTests {
    private static let secrets = [
        "Authorization: Bearer s3cret", "Authorization: Digest username=\"a\", response=\"s3cret\"",
        "x-api-key: s3cret",
        "Cookie: a=s3cret; b=s3cret; c=1", "Set-Cookie: a=s3cret; Path=/; HttpOnly", "password: swords3cret",
        "code: 7\npassword: my-s3cret", "status=401 token=s3cret", "status=401\ntoken=s3cret", "a=1,token=s3cret",
        "Invalid API key: sk-s3cret", "bad bearer s3cret here", "GET https://user:s3cret@host.example/x failed",
        "see https://host.example/?q=1&access_token=s3cret", #"upstream {"token":"s3cret"}"#,
        #"{\"token\":\"s3cret\"}"#,
        #"upstream {\"a\":1,\"token\" : \"s3cret\"}"#, "token 'x': 1, 'password' : 's3cret'",
    ]

    @Test(arguments: secrets) func `a secret is masked, however it is named`(words: String) throws {
        #expect(!Redaction.standard.masked(words).contains("s3cret"))
        #expect(Redaction.none.masked(words) == words)
        #expect(!"\(Problem(title: words, detail: words))".contains("s3cret"))
        let json = String(decoding: try JSONEncoder().encode(["error": words]), as: UTF8.self)
        for content in [words, json, "<html><title>\(words)</title>"] {
            let response = DataResponseTests.response(content.utf8, status: .badRequest)
            let error = try #require(throws: RequestError.self) { try response.validated() }
            #expect(!"\(error)".contains("s3cret"))
            #expect(!error.localizedDescription.contains("s3cret"))
        }
        struct Model: Decodable { var id: Int }
        let member = String(decoding: try JSONEncoder().encode(["a": words, "id": "x"]), as: UTF8.self)
        for content in [member, json, words, String(json.dropLast(2))] {
            let error = #expect(throws: RequestError.self) {
                try DataResponseTests.response(content.utf8).decode(Model.self)
            }
            #expect(!"\(error as Any)".contains("s3cret"), "\(error as Any)")
        }
    }

    @Test(arguments: [
        "Invalid token: expired", "Unauthorized: no such user", "error: not found", "Bearer token missing", "at 12:30",
        "password: must be longer than that", "a = b, c: d", "https://host.example/a@b?c=d", "", ":", "=",
        "🙂: 🙂=\u{301}",
        #""token" : "***", "a" : 1"#,
    ])
    func `words that are no secret stay`(words: String) {
        #expect(Redaction.standard.masked(words) == words)
    }

    @Test(arguments: ["password: hunter", "- password: hunter", "{a: b, token: hunter, c: d}", "\"password: hunter\""])
    func `a word alone on its line or in its object is a secret`(words: String) {
        #expect(!Redaction.standard.masked(words).contains("hunter"))
    }

    @Test func `what a decoder quotes is masked`() {
        struct Model: Decodable {
            enum Kind: String, Decodable { case a }
            var kind: Kind
        }
        for value in ["token=s3cret", "https://user:s3cret@host.example", "Bearer s3cret"] {
            let error = #expect(throws: RequestError.self) {
                try DataResponseTests.response("{\"kind\":\"\(value)\"}".utf8).decode(Model.self)
            }
            #expect(!"\(error as Any)".contains("s3cret"), "\(error as Any)")
        }
    }

    @Test func `the end of a long text is not shown without its name`() {
        struct Model: Decodable { var id: Int }
        let words = "token=" + String(repeating: "x", count: 2000) + "s3cret"
        for text in [words, String(repeating: "y", count: 2000) + words] {
            let content = #"{"a":"\#(text)","id":"x"}"#
            let error = #expect(throws: RequestError.self) {
                try DataResponseTests.response(content.utf8).decode(Model.self)
            }
            #expect(!"\(error as Any)".contains("s3cret"))
        }
    }
}
