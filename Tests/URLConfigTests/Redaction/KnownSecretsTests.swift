import FlyingFox
import Logging
import Testing
import URLConfigTesting

@testable import URLConfig

/// The secrets that a real call knows, including its authenticator's, its session's and its cookies.
@Suite(.inTime) struct KnownSecretsTests {
    @Test func `the secrets of a request do not keep its body stream`() async throws {
        let known = KnownSecrets()
        weak var kept: InputStream?
        do {
            let stream = InputStream(data: Data("body".utf8))
            var request = URLRequest.with(.init(host: "http://h.invalid"))
            request.httpBodyStream = stream
            known.add(request)
            kept = stream
        }
        // On Apple platforms, it may be released later.
        try await waitUntil { kept == nil }
        withExtendedLifetime(known) {}
    }

    @Test func `a request that belongs to no call does not tell its secrets to all calls`() {
        let secret = "s3cret-of-no-call"
        let request = Transport.Request(URLRequest(url: URL(string: "https://h.invalid/?token=\(secret)")!))
        #expect(request.completeURLRequest.url == request.urlRequest.url)
        #expect(request.redaction.maskedByValue(secret) == "***")
        #expect(Redaction.standard.maskedByValue(secret) == secret)
    }

    @Test func `the credentials of an authenticator and of the session are hidden in a server's text`()
        async throws
    {
        try await Loopback.serving { request in
            let names = ["Authorization", "Cookie", "X-Api-Key"].map { HTTPHeader($0) }
            return .status(.badRequest, "I got " + names.compactMap { request.headers[$0] }.joined(separator: " and "))
        } _: { server in
            let cookie = HTTPCookie(properties: [.name: "a", .value: "cookie-c4nary", .domain: "127.0.0.1", .path: "/"])
            let authenticator = TokenAuthenticator(
                hosts: [server.host], load: { .init("token-c4nary") }, refresh: { $0 })
            let response = try await URLSession.with {
                $0.httpAdditionalHeaders = ["X-Api-Key": "session-c4nary"]
                if let cookie { $0.httpCookieStorage?.setCookie(cookie) }
            } _: {
                try await $0.response(for: server.request(), config: .silent) { $0.authenticator = authenticator }
            }
            let said = try response.text()
            #expect(["token", "session", "cookie"].allSatisfy { said.contains("\($0)-c4nary") }, "\(said)")
            let error = try #require(throws: RequestError.self) { try response.validated() }
            for shown in ["\(response)", response.bodyString, "\(error)", error.reason, error.localizedDescription] {
                #expect(!shown.contains("c4nary"))
            }
            var dumped = ""
            dump([response, error, authenticator] as [Any], to: &dumped)
            #expect(!dumped.contains("c4nary"), "\(dumped)")
        }
    }

    @Test(
        .stubs {
            $0.post("/sign-in", .redirect(to: "/home", status: .seeOther))
            $0.get("/home", .text("welcome, password-c4nary"))
        })
    func `the secrets of a request are hidden in the response after a redirect`() async throws {
        let request = stubs.request("/sign-in") {
            $0.method = .post
            $0.body["password"] = "password-c4nary"
        }
        let response = try await stubs.response(for: request)
        #expect(response.bodyString == "welcome, ***")
        let open = try await stubs.response(for: request) { $0.redaction = .none }
        #expect(open.bodyString == "welcome, password-c4nary")
    }

    @Test func `short words are hidden under their names only, and shown everywhere else`() {
        let request = URLRequest.with(.init(host: "https://test.example/latest/abc12")) {
            $0.query = ["pin": "abc12", "token": "test", "password": "secure", "secret": "abc123", "sid": "swordfish"]
        }
        let redaction = Redaction.standard.knowing(request)
        #expect(redaction.masked("/latest/test abc12 secure") == "/latest/test abc12 secure")
        // Between letters and digits, short values are other words.
        #expect(
            redaction.masked("abc123, xabc123 abc1234 (swordfish) swordfishes")
                == "***, xabc123 abc1234 (***) swordfishes")
        #expect(
            request.urlString
                == "GET https://test.example/latest/abc12?pin=***&token=***&password=***&secret=***&sid=***")
    }

    @Test func `an escape before a short value is not a part of its word`() {
        let request = URLRequest.with(.init(host: "https://h.example")) {
            $0.authorization = .basic(username: "ada", password: "hunter22")
        }
        let redaction = Redaction.standard.knowing(request)
        #expect(redaction.url("https://h.example/a/ada%3Ahunter22") == "https://h.example/a/ada%3A***")
        #expect(redaction.url("https://h.example/3Ahunter22") == "https://h.example/3Ahunter22")
    }

    @Test(arguments: ["127.0.0.1", "api.test", "users", "/next/", "application/json", "2024-01-01", "users-of-2024"])
    func `a server cannot choose what is hidden`(word: String) async throws {
        let text = "about 127.0.0.1 at api.test: /next/ of users-of-2024 is application/json"
        let response = try await HTTPStubs.with {
            let target = "/next/?token=\(word.percentEncoded(.unreserved))"
            $0.get("/", .redirect(to: target).cookie("sid=\(word)"))
            $0.get("/next/", .text(text))
        } operation: {
            try await stubs.get()
        }
        #expect(response.bodyString == text)
        #expect(response.description.contains("https://api.test/next/?token=***"))
    }

    @Test(
        .stubs {
            let page = HTTPStubs.Response.text("in production")
            $0.get("/articles", page.field(.init("Link")!, "</a?token=production>; rel=next"))
            $0.get("/a", page)
        })
    func `a page that a server links to cannot choose what is hidden`() async throws {
        let shown = try await stubs.pages().all.map(\.bodyString)
        #expect(shown == ["in production", "in production"])
    }

    @Test func `the secrets of a later request are hidden even after something has been shown`() {
        let known = KnownSecrets()
        let redaction = Redaction.standard.knowing(known)
        for secret in ["first-c4nary", "second-c4nary"] {
            known.add(.with(.init(host: "https://h.example")) { $0.query["token"] = .init(secret) })
            #expect(redaction.masked("I got \(secret)") == "I got ***")
        }
        #expect(redaction.masked("first-c4nary second-c4nary") == "*** ***")
    }

    @Test func `a number that a request sends under a secret name is hidden`() {
        let known = KnownSecrets()
        known.add(
            .with(.init(host: "https://h.example")) {
                $0.method = .post
                $0.body["cardNumber"] = 4_111_111_111_111_111
            })
        let redaction = Redaction.standard.knowing(known)
        #expect(redaction.masked("card 4111111111111111 declined") == "card *** declined")
        // It stays valid JSON, also under another name.
        for name in ["cardNumber", "id"] {
            let json = Data(#"{"\#(name)":4111111111111111,"note":"4111111111111111"}"#.utf8)
            let masked = String(decoding: redaction.sentBody(json, .json), as: UTF8.self)
            #expect(masked == #"{"\#(name)":"***","note":"***"}"#)
        }
    }

    @Test func `presets and tokens are dumped as they are printed`() {
        let config = URLRequest.Config(host: "https://h.example/") {
            $0.authorization = .bearer("c4nary")
            $0.query["token"] = "c4nary"
            $0.headers[.cookie] = "a=c4nary"
            $0.body["a"] = "c4nary"
        }
        let session = URLSession.Config().with {
            $0.authenticator = TokenAuthenticator(hosts: ["h.example"], load: { .init("c4nary") }, refresh: { $0 })
        }
        var form = MultipartForm()
        form.append("password", "c4nary")
        form.append("a", json: ["c4nary"])
        let query: URLRequest.Query = ["token": "c4nary", "a": 1]
        let path: URLRequest.Path = "/a?token=c4nary"
        let values: [Any] = [
            config, session, TokenAuthenticator.Token("c4nary"), Authorization.bearer("c4nary"), query, path, form,
            RequestBody.json(["a": "c4nary"]), RequestBody.multipart(form),
            RequestBody.form(query),
        ]
        for value in values {
            var text = "\(value) \(String(reflecting: value))"
            dump(value, to: &text)
            #expect(!text.contains("c4nary"), "\(text)")
        }
    }

    @Test(
        .oneAtATime,
        arguments: [
            ("aaaaaaaa", "a"), ("aaaaaaab", "a"), ("a%61%61%61b", "%61"), ("\\\\\\\\b", "\\"), ("abcdefgh", "abcd…"),
            ("s3cret", "<a token"), ("s3cret", "token: is "), ("s3cret", "token=\""), ("s3cret", "<token>"),
            ("s3cret", "eyJ"), ("s3cret", "bearer "), ("s3cret", "://"), ("s3cret", "a: {"), ("s3cret", "token: '"),
            ("s3cret", "\\\"token"), ("s3cret", "<input name=token>"), ("s3cret", "<key>token</key>"),
            ("s3cret", "token:\n"), ("s3cret", "%25"), ("s3cret", "&#38;"), ("s3cret", "a=b:"),
            ("s3cret", "token: []\n"), ("s3cret", "{\"token\":[]},"), ("s3cret", "?&;:=#<>{}[]()!@$^*,.|"),
        ])
    func `hostile text takes time in proportion to its length`(secret: String, piece: String) {
        let request = URLRequest.with(.init(host: "https://h.example")) { $0.query["token"] = .init(secret) }
        let redaction = Redaction.standard.knowing(.init(request))
        expectLinearTime(from: 10_000) { count in
            let text = String(repeating: piece, count: count / piece.utf8.count)
            #expect(!redaction.masked(text).isEmpty)
        }
    }

    @Test(.oneAtATime, arguments: ["Cookie", "Authorization"])
    func `a field of combining marks takes time in proportion to its length`(name: String) {
        // Foundation itself takes quadratic time to set them.
        let requests = Dictionary(
            uniqueKeysWithValues: [6000, 48_000].map { count in
                var request = URLRequest(url: URL(string: "https://h.example")!)
                request.setValue(String(repeating: "\u{301}\u{316}", count: count / 4), forHTTPHeaderField: name)
                return (count, request)
            })
        expectLinearTime(from: 12_000) { count in
            #expect(!Redaction.standard.knowing(requests[count]).masked("a").isEmpty)
        }
    }

    @Test func `parameters of credentials that are no secrets stay readable`() {
        var request = URLRequest(url: URL(string: "https://api.example.com/dir/index42.html")!)
        let digest =
            #"Digest username="ada1815", realm="api.example.com", uri="/dir/index42.html", response="6629fae49393a05397450978507c4ef1""#
        request.setValue(digest, forHTTPHeaderField: "Authorization")
        request.httpBody = Data("ada1815 of api.example.com sends 6629fae49393a05397450978507c4ef1".utf8)
        #expect(request.urlString == "GET https://api.example.com/dir/index42.html")
        #expect(request.bodyString == "ada1815 of api.example.com sends ***")
    }

    @Test(arguments: [true, false])
    func `with a caller's transport, credentials and targets of redirects are also hidden`(isAuthorized: Bool) async {
        // It adds no secrets itself, as the library's transports do.
        let transport = Transport { request in
            let url = request.urlRequest.url
            guard url?.path() == "/next" else {
                return .init(status: .found, headerFields: [.location: "/next?token=target-c4nary"])
            }
            // Only the values, so that no name and no scheme says what they are.
            let values = [request.urlRequest.value(forHTTPHeaderField: "Authorization"), url?.query()]
                .compactMap { $0?.split { " =".contains($0) }.last }
            throw URLError(.timedOut, userInfo: [NSLocalizedDescriptionKey: values.joined(separator: " not ")])
        }
        let (logger, recorded) = Logger.recording()
        let authenticator = TokenAuthenticator(
            hosts: ["http://api.test"], load: { .init("first-c4nary") }, refresh: { $0 })
        let error = await #expect(throws: URLError.self) {
            try await URLSession.shared.response(for: .with(.init(host: "http://api.test")), config: .silent) {
                ($0.transport, $0.authenticator, $0.logger) = (transport, isAuthorized ? authenticator : nil, logger)
            }
        }
        #expect(error?.userInfo[NSLocalizedDescriptionKey] as? String == (isAuthorized ? "*** not ***" : "***"))
        #expect(!"\(String(describing: error)) \(recorded.text)".contains("c4nary"))
    }

    @Test(.oneAtATime) func `many secrets that begin alike take no more time than their number says`() {
        var values = SecretValues()
        for index in 0..<100 { values.add((String(repeating: "a", count: 58) + "\(index + 10_000)").utf8) }
        expectLinearTime(from: 4_000) { count in
            #expect(values.ranges(in: [UInt8](repeating: UInt8(ascii: "a"), count: count)).isEmpty)
        }
        let text = "x" + String(repeating: "a", count: 58) + "10007 "
        #expect(values.ranges(in: Array(text.utf8)) == [1..<64])
    }
}
