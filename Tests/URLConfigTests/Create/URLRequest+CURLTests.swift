import Foundation
import Testing
import URLConfig

/// Runs the curl command in a real shell: curl receives what the request would send.
@Suite struct URLRequestCURLTests {
    private static let hostile = [
        "it's", "'", "''", "'; exit 3; '", "$(exit 3)", "`exit 3`", "${HOME}", "$HOME", "\"x\"", "\\", "a\\'b", "\\n",
        "%s%d%%",
        "!history", "a\nb\n", "\r\n", "*", "~", "&& exit 3", "| exit 3", "# x", "-X", "@/etc/passwd", "@-",
        "\u{E9}\u{1F600}",
        "'\u{301}; exit 3 #", "\u{1B}[31m", "\t", " lead and trail ", "",
    ]

    private func request(_ configure: (inout URLRequest.Config) -> Void) -> URLRequest {
        URLRequest.with(.init(host: "https://h.example/a"), configure)
    }

    private func words(_ request: URLRequest, _ redaction: Redaction = .none) throws -> [String] {
        try Shell.curlCall(request.cURL(redaction: redaction)).words
    }

    @Test func `a GET is the URL alone`() throws {
        #expect(try words(request { _ in }) == ["https://h.example/a"])
        #expect(try words(request { $0.query["q"] = "a'b c" }) == ["https://h.example/a?q=a%27b%20c"])
    }

    @Test func `method, header fields and body are handed over`() throws {
        let request = request {
            $0.method = .put
            $0.headers[.accept] = "a/b"
            $0.body["title"] = "it's"
        }
        #expect(
            try words(request) == [
                "-X", "PUT", "-H", "Accept: a/b", "-H", "Content-Type: application/json", "--data-raw",
                #"{"title":"it's"}"#, "https://h.example/a",
            ])
    }

    @Test(arguments: hostile)
    func `a hostile body is one word`(text: String) throws {
        let request = request {
            $0.method = .post
            $0.body = .text(text)
        }
        let call = try Shell.curlCall(request.cURL(redaction: .none))
        #expect(call.words.suffix(3) == ["--data-raw", text, "https://h.example/a"])
        #expect(call.words.suffix(2).first?.utf8.elementsEqual(text.utf8) == true)
    }

    @Test(arguments: hostile)
    func `a hostile header value is one word`(text: String) throws {
        var request = request { _ in }
        request.setValue(text, forHTTPHeaderField: "X-Text")
        // Foundation refuses line breaks, so the value is read back from the request.
        let value = request.allHTTPHeaderFields?["X-Text"]
        let field = value.map { ["-H", $0.isEmpty ? "X-Text;" : "X-Text: \($0)"] } ?? []
        #expect(try words(request) == field + ["https://h.example/a"])
    }

    @Test(arguments: hostile.filter { !$0.isEmpty })
    func `a hostile method is one word`(text: String) throws {
        var request = request { _ in }
        request.httpMethod = text
        // Foundation may refuse or change an invalid method, so the method is read back from the request.
        let method = request.httpMethod ?? "GET"
        #expect(try words(request).suffix(3).contains(method) || method == "GET")
        #expect(try words(request).last == "https://h.example/a")
    }

    @Test func `an empty header value is sent empty, not left out`() throws {
        var request = request { _ in }
        request.setValue("", forHTTPHeaderField: "X-Empty")
        #expect(try words(request) == ["-H", "X-Empty;", "https://h.example/a"])
    }

    @Test func `HEAD waits for no body`() throws {
        #expect(try words(request { $0.method = .head }) == ["--head", "https://h.example/a"])
    }

    @Test func `a GET with a body stays a GET, and curl makes up no content type`() throws {
        var request = request { _ in }
        request.httpBody = Data("@x".utf8)
        #expect(
            try words(request) == ["-X", "GET", "-H", "Content-Type:", "--data-raw", "@x", "https://h.example/a"])
    }

    @Test func `a binary body is piped in byte for byte`() throws {
        let bytes = Data(0...255) + Data("%d%s\\n\\0451".utf8)
        let request = request {
            $0.method = .post
            $0.body = .data(bytes)
        }
        let call = try Shell.curlCall(request.cURL(redaction: .none))
        #expect(call.words.suffix(3) == ["--data-binary", "@-", "https://h.example/a"])
        #expect(call.input == bytes)
    }

    @Test func `text with a NUL is piped in`() throws {
        let request = request {
            $0.method = .post
            $0.body = .text("a\u{0}b")
        }
        #expect(try Shell.curlCall(request.cURL(redaction: .none)).input == Data("a\u{0}b".utf8))
    }

    @Test func `brackets in a URL are not curl's`() throws {
        let request = URLRequest(url: try #require(URL(string: "http://[::1]:80")))
        #expect(try words(request) == ["--globoff", "http://[::1]:80"])
    }

    @Test func `secrets are hidden unless asked for`() throws {
        let request = request {
            $0.method = .post
            $0.authorization = .bearer("s3cret")
            $0.query["api_key"] = "s3cret"
            $0.body = ["title": "t", "password": "s3cret"]
            $0.body["nested"] = ["token": "s3cret", "n": 1]
        }
        #expect(!request.cURL().contains("s3cret"))
        let url = "https://h.example/a?api_key="
        #expect(
            try words(request, .standard) == [
                "-X", "POST", "-H", "Authorization: ***", "-H", "Content-Type: application/json", "--data-raw",
                #"{"nested":{"n":1,"token":"***"},"password":"***","title":"t"}"#, url + "***",
            ])
        #expect(
            try words(request) == [
                "-X", "POST", "-H", "Authorization: Bearer s3cret", "-H", "Content-Type: application/json",
                "--data-raw",
                #"{"nested":{"n":1,"token":"s3cret"},"password":"s3cret","title":"t"}"#, url + "s3cret",
            ])
    }

    @Test func `a form's secrets are hidden`() throws {
        let request = request {
            $0.method = .post
            $0.body = .form(["user": "u v", "password": "s3;cret"])
        }
        #expect(try words(request, .standard).contains("user=u+v&password=***"))
    }

    @Test func `a request that cannot be sent has a command too`() throws {
        let line = request { $0.host = "ftp://x\nexit 3" }.cURL()
        #expect(line.hasPrefix("# invalidURL: host"))
        #expect(!line.contains("\n"))
    }
}
