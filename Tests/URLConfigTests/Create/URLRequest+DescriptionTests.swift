import Testing
import URLConfig

/// Descriptions of requests, and curl commands, which are run in a real shell: curl receives what the request would
/// send.
@Suite struct URLRequestDescriptionTests {
    private let config = URLRequest.Config(host: "https://h.example") {
        $0.method = .post
        $0.path = "/a b"
    }

    @Test func `the URL's text is method and URL, secrets hidden`() throws {
        let request = URLRequest.with(config) { $0.query = ["page": 1, "access_token": "s3cret"] }
        #expect(request.urlString == "POST https://h.example/a%20b?page=1&access_token=***")
        let byHand = URLRequest(url: try #require(URL(string: "https://u:s3cret@h.example/#id_token=s3cret")))
        #expect(byHand.urlString == "GET https://***@h.example/#id_token=***")
    }

    @Test(
        arguments: [
            (
                ["title": "t", "password": "s3cret", "list": [1], "none": []],
                """
                {
                  "list" : [
                    1
                  ],
                  "none" : [],
                  "password" : "***",
                  "title" : "t"
                }
                """
            ),
            (.form(["user": "u v", "password": "s3cret"]), "user=u+v&password=***"),
            (.text("h\u{E9}\n\"token\":\"s3cret\""), "h\u{E9}\n\"token\":\"***\""),
            (.text(""), ""), (RequestBody(), ""), (.data(Data([1, 2, 3]), contentType: .png), "<3 bytes image/png>"),
            (.data(Data([0xFF, 0, 1]), contentType: .text), "<3 bytes text/plain>"),
        ] as [(RequestBody, String)])
    func `a body is shown with its secrets hidden, JSON is laid out, and bytes are summarized`(
        body: RequestBody, expected: String
    ) {
        #expect(URLRequest.with(config) { $0.body = body }.bodyString == expected)
    }

    @Test func `bytes without a content type are summarized, and a stream is one word`() {
        var request = URLRequest.with(config)
        request.httpBody = Data([0xFF, 0xFE, 0xFD])
        #expect(request.bodyString == "<3 bytes>")
        request.httpBodyStream = InputStream(data: Data("s3cret".utf8))
        #expect(request.bodyString == "<stream>")
    }

    // Commands for curl.

    #if os(Linux) || os(macOS)
    private static let hostile = [
        "it's", "'", "''", "'; exit 3; '", "$(exit 3)", "`exit 3`", "${HOME}", "$HOME", "\"x\"", "\\", "a\\'b", "\\n",
        "%s%d%%", "!history", "a\nb\n", "\r\n", "*", "~", "&& exit 3", "| exit 3", "# x", "-X", "@/etc/passwd", "@-",
        "\u{E9}\u{1F600}", "'\u{301}; exit 3 #", "\u{1B}[31m", "\t", " lead and trail ", "", "\u{FEFF}a,b",
    ]

    private func request(_ configure: (inout URLRequest.Config) -> Void) -> URLRequest {
        URLRequest.with(.init(host: "https://h.example/a"), configure)
    }

    private func words(_ request: URLRequest, _ redaction: Redaction = .none) throws -> [String] {
        try Shell.curlCall(request.cURL(redaction: redaction)).words
    }

    @Test func `method, header fields and body are handed over; HEAD is an option: it waits for no body`() throws {
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
        #expect(try words(self.request { $0.method = .head }) == ["--head", "https://h.example/a"])
        #expect(try words(self.request { $0.query["q"] = "a'b c" }) == ["https://h.example/a?q=a%27b%20c"])
    }

    @Test(arguments: hostile)
    func `a hostile body, header value or method is one word`(text: String) throws {
        let call = try Shell.curlCall(request { ($0.method, $0.body) = (.post, .text(text)) }.cURL(redaction: .none))
        #expect(call.words.suffix(3) == ["--data-raw", text, "https://h.example/a"])
        #expect(call.words.suffix(2).first?.utf8.elementsEqual(text.utf8) == true)
        // Foundation refuses line breaks and may change an invalid method, so both are read back from the request.
        var request = request { _ in }
        request.setValue(text, forHTTPHeaderField: "X-Text")
        let value = request.allHTTPHeaderFields?["X-Text"]
        let field = value.map { ["-H", $0.isEmpty ? "X-Text;" : "X-Text: \($0)"] } ?? []
        #expect(try words(request) == field + ["https://h.example/a"])
        guard !text.isEmpty else { return }
        request.httpMethod = text
        let method = request.httpMethod ?? "GET"
        #expect(try words(request) == (method == "GET" ? [] : ["-X", method]) + field + ["https://h.example/a"])
    }

    @Test func `a GET with a body stays a GET without a content type, and brackets in a URL are not curl's`() throws {
        var request = URLRequest(url: try #require(URL(string: "http://[::1]:80")))
        #expect(try words(request) == ["--globoff", "http://[::1]:80"])
        request.httpBody = Data("@x".utf8)
        let body = ["-X", "GET", "-H", "Content-Type:", "--data-raw", "@x"]
        #expect(try words(request) == ["--globoff"] + body + ["http://[::1]:80"])
        // curl would remove such segments.
        for path in ["a/../b", "%2E/a", "a/.%2e"] {
            let url = "https://h.example/\(path)"
            #expect(try words(self.request { $0.url = URL(string: url) }) == ["--path-as-is", url])
        }
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

    @Test func `secrets are hidden unless asked for`() throws {
        let request = request {
            $0.method = .post
            $0.authorization = .bearer("s3cret")
            $0.query["api_key"] = "s3cret"
            $0.body = ["title": "t", "password": "s3cret"]
            $0.body["nested"] = ["token": "s3cret", "n": 1]
        }
        #expect(!request.cURL().contains("s3cret"))
        let form = self.request { ($0.method, $0.body) = (.post, .form(["user": "u v", "password": "s3;cret"])) }
        #expect(try words(form, .standard).contains("user=u+v&password=***"))
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

    @Test func `a request that cannot be sent also has a command`() throws {
        let line = request { $0.host = "ftp://x\nexit 3" }.cURL()
        #expect(line.hasPrefix("# invalidURL: host"))
        #expect(!line.contains("\n"))
    }
    #endif
}
