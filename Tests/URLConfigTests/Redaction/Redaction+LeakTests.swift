import Testing
import URLConfigTesting

@testable import URLConfig

/// Attacks that once revealed a secret.
@Suite(.inTime) struct RedactionLeakTests {
    private func echoed(
        _ change: (inout URLRequest.Config) -> Void, _ configure: (inout URLSession.Config) -> Void = { _ in }
    ) async throws -> DataResponse {
        try await HTTPStubs.with {
            $0.any("/*") {
                let sent = $0.headerFields[.init("X-Echo")!] ?? ""
                return .text("you have sent \(sent), \($0.url.query() ?? "")")
            }
        } operation: {
            try await stubs.response(for: stubs.request(nil, change), configure)
        }
    }

    @Test(arguments: [
        "{\"a\":\"https://ann:abcdefgh12345678@h.example\"}", "-----BEGIN A-----\nabcdefgh12345678",
        "Bearer abcdefgh12345678 and more", "{\"password\":\"abcdefgh12345678\"}",
        "-----BEGIN https://h.example?token=abcdefgh12345678-----",
    ])
    func `a body that is cut for the log shows no beginning of a secret`(text: String) {
        let type: MediaType = text.hasPrefix("{") ? .json : .text
        for limit in 1...text.utf8.count {
            let shown = Redaction.standard.body(Data(text.utf8), type, limit: limit)
            #expect(!shown.contains("abcd"), "\(limit): \(shown)")
        }
    }

    @Test func `a body that begins with a long secret shows no beginning of another one, wherever it is cut`() {
        let text =
            #"{"password":""# + String(repeating: "x", count: 3000) + #"","pad":""#
            + String(repeating: "p", count: 9000)
            + #"","url":"https://ann:abcdefgh12345678@h.example"}"#
        for place in [text.utf8.count - 40 - 4096, text.utf8.count - 40 - 2048] {
            for limit in place - 60..<place + 60 {
                #expect(!Redaction.standard.body(Data(text.utf8), .json, limit: limit).contains("abcd"))
            }
        }
    }

    private static let long = String(repeating: "a", count: 1900)
    private static let longer = String(repeating: "a", count: 4800)

    /// What is known is longer than the part that is compared.
    private let known = "correct-horse-battery-staple-with-many-more-words-to-be-longer-than-that"

    /// Hides the known secret, but not by a name.
    private var knowing: Redaction {
        .standard.knowing(stubs.request("/") { $0.headers[.init("X-Api-Key")!] = known })
    }

    @Test(arguments: [
        "", "token=\(long) ", "token=\(long.prefix(900)) ", "https://ann:\(long)@h.example/",
        "-----BEGIN A-----\(long)-----END ",
        "{\"token\":\"\(long)\"} ", "{\"a\":\"\\ntoken=\(long) ", "a=%20token%3D\(long)%26b=",
        "{\"token\":\"\(long)\",\"a\":\"\\n",
    ])
    func `the beginning of a text shows no beginning of a secret, whatever is hidden before it`(hidden: String) {
        for count in stride(from: 0, through: 2000 - hidden.utf8.count, by: 8) {
            let text = hidden + String(repeating: ".", count: count) + known
            #expect(!knowing.quote(text).contains("corr"), "\(count)")
            #expect(!knowing.quote(url: text).contains("corr"), "\(count)")
        }
    }

    @Test(arguments: [
        "{\"token\":\"\(longer)\",\"a\":\"", "{\"a\":\"\\ntoken=\(longer) ",
        "{\"token\":\"\(longer)\",\"a\":\"\\npin=1234 ", "{\"a\":\"\\ntoken=a1b2c3 \(longer) ",
    ])
    func `a body that is cut shows no beginning of a secret, whatever is hidden before it`(hidden: String) {
        for count in stride(from: 0, through: 5096 - hidden.utf8.count, by: 8) {
            let text = hidden + String(repeating: ".", count: count) + known + "\"}"
            #expect(!knowing.body(Data(text.utf8), .json, limit: 1000).contains("corr"), "\(count)")
        }
    }

    @Test func `a body that is cut shows no beginning of a secret in UTF-16`() throws {
        for count in stride(from: 4096 - known.utf8.count, through: 4096, by: 4) {
            let text = String(repeating: ".", count: count) + known + String(repeating: ".", count: 900)
            let data = try #require(text.data(using: .utf16LittleEndian))
            let shown = knowing.body(data, "text/plain; charset=utf-16le", limit: 4096)
            #expect(shown.contains("....") && !shown.contains("corr"), "\(count)")
        }
    }

    @Test(arguments: [
        (#"{"note":"up 5 %\nnext"}"#, #"{"note":"up 5 %\nnext"}"#),
        (#"{"u":"https:\/\/user:pw@h.example\/a%20b"}"#, #"{"u":"https://***@h.example/a%20b"}"#),
        (#"{"m":"a%20b\nBearer abcdefghijklmnop12+SECRETREST"}"#, #"{"m":"a%20b\nBearer ***"}"#),
    ])
    func `a string with a percent sign is read once`(json: String, expected: String) {
        let shown = Redaction.standard.body(Data(json.utf8), .json)
        let written = shown.filter { !$0.isWhitespace }.replacing(#"\/"#, with: "/")
        #expect(written == expected.filter { !$0.isWhitespace }, "\(shown)")
    }

    @Test func `names that the preset of a host hides are hidden wherever its requests are shown`() async throws {
        let preset = URLSession.Config.silent.with { $0.redaction = .standard.adding("X-Acme-Badge", "voucher") }
        await URLSession.Config.withHosts(["acme.test": preset]) {
            let request = URLRequest.with(.init(host: "https://acme.test")) {
                ($0.method, $0.query["voucher"]) = (.post, "vouch88")
                ($0.headers["X-Acme-Badge"], $0.body["voucher"]) = ("badge77", "vouch88")
            }
            let typed = TypedRequest<Void>(request, reader: .discard)
            let error = RequestError(.invalidRequest, reason: "refused", request: request)
            for text in [request.cURL(), request.urlString, request.bodyString, "\(typed)", "\(error)"] {
                #expect(!text.contains("vouch88") && !text.contains("badge77"), "\(text)")
            }
            #expect(request.cURL(redaction: .none).contains("badge77"))
        }
    }

    @Test func `they are hidden in a configuration, too, also if it is refused`() async {
        let preset = URLSession.Config.silent.with { $0.redaction = .standard.adding("X-Acme-Badge", "voucher") }
        await URLSession.Config.withHosts(["acme.test": preset]) {
            let config = URLRequest.Config(host: "https://acme.test") {
                ($0.headers["X-Acme-Badge"], $0.query["voucher"]) = ("badge77", "vouch88")
            }
            let (late, url) = (Duration.seconds(-1), URL(string: "https://u@acme.test/?voucher=vouch88"))
            var dumped = ""
            dump(config, to: &dumped)
            for text in [
                dumped, URLRequest.explain(config), URLRequest.explain(config) { $0.timeout = late },
                "\(URLRequest.with(.init(host: "https://other.test")) { $0.url = url }.refusal!)",
            ] {
                #expect(text.contains("acme.test") && !text.contains("vouch88") && !text.contains("badge77"), "\(text)")
            }
        }
    }

    @Test func `a text is shown up to the same place, whatever is hidden before it`() {
        let text = "token=\(Self.long.prefix(900)) " + String(repeating: ".", count: 2000)
        #expect(Redaction.standard.quote(text) == "token=*** " + String(repeating: ".", count: 93))
        let nested = "a=%7B%22pin%22:%201234%7D " + String(repeating: "\u{E9}", count: 2000)
        #expect(
            Redaction.standard.quote(nested) == "a=%7B%22pin%22%3A%20%22***%22%7D "
                + String(repeating: "\u{E9}", count: 967))
    }

    @Test(arguments: [#"\u"#, #"\uxyz"#, #"\u12x"#, #"\ud83d\uxyz"#, #"\x"#])
    func `a secret after an invalid escape is hidden`(escape: String) {
        for text in [
            #"{"a":"\#(escape)\"ab\" https://h.example?token=abcdefgh12345678"}"#,
            #"{"token":"\#(escape)\"abcdefgh12345678"}"#,
        ] {
            #expect(!Redaction.standard.masked(text).contains("abcdefgh"))
        }
    }

    @Test func `a wrong charset shows no secret`() {
        let body = Data(#"{"password":"hunter22"}"#.utf8)
        for charset in ["utf-16", "shift_jis", "iso-8859-1"] {
            let shown = Redaction.standard.sentBody(body, MediaType("application/json; charset=\(charset)"))
            #expect(!String(decoding: shown, as: UTF8.self).contains("hunter22"))
        }
    }

    @Test func `words of credentials and cookies are not masked in all that is shown`() async throws {
        let fields = [
            "Authorization": "AWS4-HMAC-SHA256 Credential=AKIA12345678/20251121/eu/s3/aws4_request, "
                + "SignedHeaders=host;x-amz-date, Signature=0123456789abcdef0123",
            "Cookie": "lang=english; page=home; sid=0123abcd0123", "X-Echo": "0123456789abcdef0123 0123abcd0123",
        ]
        let response = try await echoed {
            $0.path = "/host/home/english"
            for (name, value) in fields { $0.headers[HTTPField.Name(name)!] = value }
        }
        #expect(response.description.contains("https://api.test/host/home/english"))
        #expect(response.bodyString == "you have sent *** ***, ")
    }

    @Test(
        .stubs {
            $0.get("https://badge.test/a", .redirect(to: "https://other.test/b"))
            $0.get("https://other.test/b", .text("other"))
            $0.get("https://badge.test/mine", .text("mine").field(.cacheControl, "max-age=60"))
        })
    func `what an authorization of the app sets is a credential, whatever its name`() async throws {
        let (badge, user) = (try #require(HTTPField.Name("X-Weather-Badge")), Locked("b4dge-0123"))
        func request(_ path: URLRequest.Path) -> URLRequest {
            .with(.init(host: "https://badge.test")) {
                $0.path = path
                $0.authorization = Authorization { [user = user.withLock(\.self)] fields in
                    (fields[badge], fields[.contentLanguage]) = (user, "en")
                }
            }
        }
        let response = try await URLSession.shared.response(for: request("/a")).validated()
        #expect(try response.text() == "other")
        #expect(HTTPStubs.requests.map { $0.headerFields[badge] } == ["b4dge-0123", nil])
        // It is about the content.
        #expect(HTTPStubs.requests.allSatisfy { $0.headerFields[.contentLanguage] == "en" })
        #expect(!request("/a").cURL().contains("b4dge"))
        let cache = HTTPCache.memory(megabytes: 1)
        for name in ["Ada-0123", "Bob-0123"] {
            user.set(\.self, name)
            for _ in 1...2 { try await URLSession.shared.response(for: request("/mine")) { $0.cache = cache } }
        }
        #expect(HTTPStubs.requests.compactMap { $0.headerFields[badge] } == ["b4dge-0123", "Ada-0123", "Bob-0123"])
    }

    @Test func `the secrets of a UTF-16 body are known by its mark`() async throws {
        let body = try #require(#"{"password":"hunter22-0123"}"#.data(using: .utf16))
        let response = try await echoed {
            ($0.method, $0.body) = (.post, .data(body, contentType: .json))
            $0.headers[HTTPField.Name("X-Echo")!] = "hunter22-0123"
        }
        #expect(response.bodyString == "you have sent ***, ")
    }

    @Test func `a token is hidden however many secrets a body has`() async throws {
        let response = try await echoed { config in
            config.method = .post
            config.body["tokens"] = (0..<200).map { "device-\($0)-0123456789" }
            config.authorization = .bearer("b3arer-0123456789")
            config.headers[HTTPField.Name("X-Echo")!] = "b3arer-0123456789"
        }
        #expect(response.bodyString == "you have sent ***, ")
    }

    @Test(arguments: [
        ("password=abc{s3cret", "password=***"), ("session={s3cret-3F25}", "session=***"),
        ("https://user:pa{s3cret@h.example/", "https://***@h.example/"),
        (#"27" {"password":"s3cret"}"#, #"27" {"password":"***"}"#),
        (#""password":"s3cret", {"a":1}"#, #""password":"***", {"a":1}"#),
        (
            #"see {"a":"https://h/?token=s3cret","b":"https://h/?page=2"}"#,
            #"see {"a":"https://h/?token=***","b":"https://h/?page=2"}"#
        ),
        (
            "<https://h/?page=2>; rel=\"next\", <https://h/?token=s3cret>; rel=\"last\"",
            "<https://h/?page=2>; rel=\"next\", <https://h/?token=***>; rel=\"last\""
        ),
        ("\"token=s3cret\" \"page=1\" \"token=s3cret\"", "\"token=***\" \"page=1\" \"token=***\""),
        ("KEY=\"-----BEGIN K-----\ns3cret\n-----END K-----\"", "KEY=\"-----BEGIN K-----***-----END K-----\""),
        ("private_key='-----BEGIN K-----\ns3cret\n-----END K-----' a", "private_key='***' a"),
        (#"{"password":"AB0123456789abcdef0123456789abcdef","sid":"AB0123456789abcdef0123456789abcdef"}"#, ""),
    ])
    func `in text, neither a brace nor a quote ends a secret`(text: String, expected: String) {
        let masked = Redaction.standard.masked(text)
        #expect(!masked.contains("s3cret"))
        let twilio = #"{"password":"***","sid":"AB0123456789abcdef0123456789abcdef"}"#
        #expect(masked == (expected.isEmpty ? twilio : expected))
    }

    @Test(arguments: ["iso-8859-1", "utf-16le", "utf-8", "unknown"])
    func `a body that is recorded keeps its character set`(charset: String) throws {
        let encoding = String.Encoding(charset: charset) ?? .utf8
        let body = try #require("Zo\u{EB} token=s3cret-0123456789".data(using: encoding))
        let type = MediaType("text/plain; charset=\(charset)")
        let recorded = Redaction.standard.hiding(body: body, type)
        #expect(String(data: recorded, encoding: encoding) == "Zo\u{EB} token=***")
    }

    @Test func `a body that is recorded keeps bytes that its character set does not have`() {
        let body = Data([0x81, 0xEB, 0x20]) + Data("token=s3cret-0123456789".utf8)
        let recorded = Redaction.standard.hiding(body: body, "text/plain; charset=windows-1252")
        #expect(recorded == Data([0x81, 0xEB, 0x20]) + Data("token=***".utf8))
    }

    @Test(arguments: ["token=s3cret-0123456789;tenant=main", "s3cret-0123456789 v2", "tenant=main, s3cret-0123456789"])
    func `credentials without a scheme are hidden by value`(credentials: String) {
        var request = URLRequest.with(.init(host: "https://h.example"))
        request.setValue(credentials, forHTTPHeaderField: "Authorization")
        #expect(Redaction.standard.knowing(request).masked("you sent s3cret-0123456789") == "you sent ***")
    }

    @Test(arguments: ["Negotiate", "DeepL-Auth-Key", "Klaviyo-API-Key"])
    func `the scheme of credentials is no secret`(scheme: String) {
        var request = URLRequest.with(.init(host: "https://h.example"))
        request.setValue("\(scheme) s3cret-0123456789", forHTTPHeaderField: "Authorization")
        let shown = Redaction.standard.knowing(request).masked("you sent \(scheme) and s3cret-0123456789")
        #expect(shown == "you sent \(scheme) and ***")
    }

    @Test func `a response that a validator makes hides the secrets of the call`() async throws {
        let response = try await echoed {
            $0.query["birthday"] = "1815-12-10"
        } _: {
            $0.redaction = .standard.adding("birthday")
            $0.validators = [.init { $0 = DataResponse(request: $0.request, data: $0.data) }]
        }
        #expect(response.bodyString.contains("birthday=***"))
    }

    @Test func `an error of URLSession hides whatever it contains`() async throws {
        let failure = URLError(
            .badURL,
            userInfo: [
                "token": "s3cr3t-1", "list": ["token=s3cr3t-2"], "map": ["password": "s3cr3t-3"],
                "urls": [URL(string: "http://h.example/?token=s3cr3t-4")!], "count": 7,
            ])
        let error = try #require(await expectError(.badURL) { try await stubs.get(.error(failure)) })
        #expect(!"\(error)".contains("s3cr3t"))
        #expect(error.errorUserInfo["count"] as? Int == 7)
    }

    @Test func `the secrets of a session that was released stay hidden`() async throws {
        try await FaultServer.serving(.ok("you have sent k3y-0123456789")) { server in
            let response = try await URLSession.with {
                $0.httpAdditionalHeaders = ["X-Api-Key": "k3y-0123456789"]
            } _: {
                try await $0.response(for: server.request(), config: .silent)
            }
            #if canImport(FoundationNetworking)
            // The shadow of the session must also be released.
            _ = ShadowSession.of(URLSession(configuration: .ephemeral))
            #endif
            #expect(response.bodyString == "you have sent ***")
        }
    }
}
