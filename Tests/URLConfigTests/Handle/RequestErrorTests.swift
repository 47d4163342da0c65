import FlyingFox
import Testing
import URLConfig

@Suite struct RequestErrorTests {
    @Test func `it reads like a sentence, without secrets`() {
        let response = DataResponseTests.response("gone".utf8, status: .gone)
        let error = #expect(throws: RequestError.self) { try response.validated() }
        let text = "\(error.map(String.init(describing:)) ?? "")"
        #expect(text.contains("unacceptableStatus"))
        #expect(text.contains("GET https://api.example.com/users?token=***"))
        #expect(text.hasSuffix(" answered 410: that status is not accepted here; the content says “gone”"))
        #expect(error?.localizedDescription == "that status is not accepted here; the content says “gone”")
    }

    @Test(
        arguments: [
            (#"{"code":"missing","message":"No such note"}"#, "; the content says “No such note”"),
            (#"{"a":1}"#, ""), ("", ""), ("{", ""), ("gone", "; the content says “gone”"),
            ("password=s3cret", "; the content says “password=***”"),
            (#"{"message":"password=s3cret"}"#, "; the content says “password=***”"),
            ("<html><title>Not Found</title>", "; the content is an HTML page titled “Not Found”"),
            ("<html>", "; the content is an HTML page"), ("<a/>", ""), ("\u{1}\u{2}", ""),
            (String(repeating: "a", count: 1025), ""),
        ])
    func `what a refused answer says is said`(content: String, words: String) {
        let response = DataResponseTests.response(content.utf8, status: .notFound)
        let error = #expect(throws: RequestError.self) { try response.validated() }
        #expect(error?.reason == "that status is not accepted here" + words)
        #expect("\(error as Any)".contains("answered 404: that status"))
    }

    @Test func `a refused answer is read in its own character set`() {
        let response = DataResponseTests.response(
            [0x5A, 0x6F, 0xEB], contentType: "text/plain; charset=iso-8859-1", status: .notFound)
        let error = #expect(throws: RequestError.self) { try response.validated() }
        #expect(error?.reason.hasSuffix("the content says “Zoë”") == true)
    }

    @Test func `a header field of any length is cut`() {
        let long = String(repeating: "x", count: 10_000)
        for check in [
            { try DataResponseTests.response([], contentType: long).validated(contentType: .json) },
            {
                let response = DataResponseTests.response([0xFF], contentType: "text/plain; charset=\(long)")
                _ = try response.text()
                return response
            },
        ] {
            let error = #expect(throws: RequestError.self) { _ = try check() }
            #expect("\(error as Any)".utf8.count < 300)
        }
    }

    @Test func `what a call hides, the errors of its response hide`() async throws {
        try await Loopback.serving { _ in
            .status(.notFound, "[]")
        } _: { server in
            let request = server.request { $0.query["ssn"] = "t0psecret" }
            let response = try await server.response(for: request) { $0.redaction = .standard.adding("ssn") }
            #expect("\(response)".hasPrefix("404 GET http://127.0.0.1:"))
            #expect("\(response)".hasSuffix("?ssn=***, 2 B of text/plain"))
            #expect(!String(reflecting: response).contains("t0psecret"))
            for check in [
                { try response.validated() },
                {
                    _ = try response.decode(Int.self)
                    return response
                },
            ] {
                let error = #expect(throws: RequestError.self) { _ = try check() }
                #expect("\(error as Any)".contains("ssn=***"))
                #expect(!String(reflecting: error).contains("t0psecret"))
            }
        }
    }

    @Test func `an app adds its own codes`() {
        let error = RequestError(
            .maintenance, reason: "closed until noon", response: DataResponseTests.response([]))
        #expect(error.code == .maintenance)
        #expect(error.request?.url?.host() == "api.example.com")
        #expect("\(error)".contains("closed until noon"))
    }
}

extension RequestError.Code {
    fileprivate static let maintenance = Self(rawValue: "maintenance")
}
