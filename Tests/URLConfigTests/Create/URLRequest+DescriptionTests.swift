import Foundation
import Testing
import URLConfig

/// Descriptions of requests, and curl commands, which are run in a real shell: curl receives what the request would
/// send.
@Suite struct URLRequestDescriptionTests {
    private let config = URLRequest.Config(host: "https://h.example") {
        $0.method = .post
        $0.path = "/a b"
    }

    private func body(_ body: RequestBody) -> String {
        URLRequest.with(config) { $0.body = body }.bodyString
    }

    @Test func `the URL's text is method and URL, secrets hidden`() throws {
        let request = URLRequest.with(config) {
            $0.query["page"] = 1
            $0.query["access_token"] = "s3cret"
        }
        #expect(request.urlString == "POST https://h.example/a%20b?page=1&access_token=***")
        let byHand = URLRequest(url: try #require(URL(string: "https://u:s3cret@h.example/#id_token=s3cret")))
        #expect(byHand.urlString == "GET https://***@h.example/#id_token=***")
    }

    @Test func `a JSON body is laid out, secrets hidden`() {
        let text = body(["title": "t", "password": "s3cret", "list": [1], "none": []])
        #expect(
            text == """
                {
                  "list" : [
                    1
                  ],
                  "none" : [],
                  "password" : "***",
                  "title" : "t"
                }
                """)
    }

    @Test func `a form or a text is shown with its secrets hidden`() {
        #expect(body(.form(["user": "u v", "password": "s3cret"])) == "user=u+v&password=***")
        #expect(body(.text("h\u{E9}\n\"token\":\"s3cret\"")) == "h\u{E9}\n\"token\":\"***\"")
    }

    @Test func `bytes are summarized`() {
        #expect(body(.data(Data([1, 2, 3]), contentType: .png)) == "<3 bytes image/png>")
        #expect(body(.data(Data([0xFF, 0, 1]), contentType: .text)) == "<3 bytes text/plain>")
        var request = URLRequest.with(config) { $0.body = .data(Data([0xFF, 0xFE, 0xFD])) }
        request.setValue(nil, forHTTPHeaderField: "Content-Type")
        #expect(request.bodyString == "<3 bytes>")
    }

    @Test func `without a body the text is empty, and a stream is one word`() {
        #expect(URLRequest.with(config) { _ in }.bodyString == "")
        #expect(body(.text("")) == "")
        let stream = URLRequest.with(config) {
            $0.modify = { $0.httpBodyStream = InputStream(data: Data("s3cret".utf8)) }
        }
        #expect(stream.bodyString == "<stream>")
    }

    // Commands for curl.

    #if os(Linux) || os(macOS)
    private static let hostile = [
        "it's", "'", "''", "'; exit 3; '", "$(exit 3)", "`exit 3`", "${HOME}", "$HOME", "\"x\"", "\\", "a\\'b", "\\n",
        "%s%d%%", "!history", "a\nb\n", "\r\n", "*", "~", "&& exit 3", "| exit 3", "# x", "-X", "@/etc/passwd", "@-",
        "\u{E9}\u{1F600}", "'\u{301}; exit 3 #", "\u{1B}[31m", "\t", " lead and trail ", "",
    ]

    private func request(_ configure: (inout URLRequest.Config) -> Void) -> URLRequest {
        URLRequest.with(.init(host: "https://h.example/a"), configure)
    }

    private func words(_ request: URLRequest, _ redaction: Redaction = .none) throws -> [String] {
        try Shell.curlCall(request.cURL(redaction: redaction)).words
    }

    @Test func `a GET is the URL alone, and HEAD is an option, because it waits for no body`() throws {
        #expect(try words(request { $0.method = .head }) == ["--head", "https://h.example/a"])
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
        let request = request { ($0.method, $0.body) = (.post, .text(text)) }
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

    @Test func `a GET with a body stays a GET, and curl makes up no content type`() throws {
        var request = request { _ in }
        request.httpBody = Data("@x".utf8)
        #expect(
            try words(request) == ["-X", "GET", "-H", "Content-Type:", "--data-raw", "@x", "https://h.example/a"])
    }

    @Test func `a binary body, or a text with a NUL, is piped in byte for byte`() throws {
        let bytes = Data(0...255) + Data("%d%s\\n\\0451".utf8)
        let request = request { ($0.method, $0.body) = (.post, .data(bytes)) }
        let call = try Shell.curlCall(request.cURL(redaction: .none))
        #expect(call.words.suffix(3) == ["--data-binary", "@-", "https://h.example/a"])
        #expect(call.input == bytes)
        let text = self.request { ($0.method, $0.body) = (.post, .text("a\u{0}b")) }
        #expect(try Shell.curlCall(text.cURL(redaction: .none)).input == Data("a\u{0}b".utf8))
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
                "--data-raw", #"{"nested":{"n":1,"token":"s3cret"},"password":"s3cret","title":"t"}"#,
                url + "s3cret",
            ])
    }

    @Test func `a form's secrets are hidden`() throws {
        let request = request { ($0.method, $0.body) = (.post, .form(["user": "u v", "password": "s3;cret"])) }
        #expect(try words(request, .standard).contains("user=u+v&password=***"))
    }

    @Test func `a request that cannot be sent also has a command`() throws {
        let line = request { $0.host = "ftp://x\nexit 3" }.cURL()
        #expect(line.hasPrefix("# invalidURL: host"))
        #expect(!line.contains("\n"))
    }
    #endif
}
