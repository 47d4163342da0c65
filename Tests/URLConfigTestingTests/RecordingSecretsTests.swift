import Testing
import URLConfig

@testable import URLConfigTesting

struct RecordingSecretsTests {
    private static let canary = "c4nary-7f3a9b2e51"
    /// A secret that no request has.
    private static let granted = "gr4nted-51b0c8d7aa"

    private func calls(_ secret: String, _ configure: (inout URLSession.Config) -> Void) async throws {
        let session = URLSession(configuration: .ephemeral)
        try await send("/url?token=\(secret)&page=2", configure)
        try await send(
            "/fields",
            request: {
                $0.authorization = .bearer(secret)
                $0.headers[.cookie] = "sid=\(secret); theme=dark"
            }, configure)
        try await send(
            "/form", request: { ($0.method, $0.body) = (.post, .form(["password": secret, "a": "1"])) }, configure)
        try await send(
            "/json", request: { ($0.method, $0.body) = (.post, .json(["password": secret, "a": "1"])) }, configure)
        var form = MultipartForm()
        form.append("password", secret)
        form.append("a", "1")
        try await send("/multipart", request: { ($0.method, $0.body) = (.post, .multipart(form)) }, configure)
        let response = try await send("/response", session: session, request: { _ in }, configure)
        #expect(response.cookies.map(\.name) == ["sid", "lang"])
        #expect(try response.decode([String: String].self).keys.sorted() == ["access_token", "name"])
        var events: [String] = []
        let request = URLRequest.with(.api) { ($0.path, $0.authorization) = ("/events", .bearer(secret)) }
        for try await event in try await URLSession.shared.stream(for: request, configure).events {
            events.append(event.id)
        }
        #expect(events == ["1", "2"])
        let lines = try await send("/lines", configure).text().split(separator: "\n")
        #expect(lines.count == 2)
    }

    @Test func `a file has no secret, and is played for requests that have the secret or another one`() async throws {
        let folder = try ReplayFolder()
        let (canary, granted) = (Self.canary, Self.granted)
        let server = server { request in
            switch request.urlRequest.url?.lastPathComponent {
            case "response":
                var fields: HTTPFields = [.contentType: "application/json"]
                fields[values: .setCookie] = ["sid=\(granted); Path=/", "lang=\(canary)"]
                return .init(
                    headerFields: fields, body: .init(Data(#"{"name": "Ada", "access_token": "\#(granted)"}"#.utf8)))
            case "events":
                let text = "id: 1\ndata: {\"token\": \"\(granted)\"}\n\nid: 2\ndata: you are \(canary)\n\n"
                let pieces = AsyncStream<Data> { pieces in
                    for start in stride(from: 0, to: text.utf8.count, by: 7) {
                        pieces.yield(Data(text.utf8.dropFirst(start).prefix(7)))
                    }
                    pieces.finish()
                }
                return .init(headerFields: [.contentType: "text/event-stream"], body: .init(pieces))
            case "lines":
                let text = "{\"token\": \"\(granted)\", \"n\": 1}\n{\"n\": 2, \"token\": \"\(granted)\"}\n"
                return .init(headerFields: [.contentType: "application/x-ndjson"], body: .init(Data(text.utf8)))
            default: return .init(status: .noContent)
            }
        }
        try await folder.run(.recordAll) { try await calls(canary, server) }
        #expect(!folder.text.contains("c4nary"))
        #expect(!folder.text.contains("gr4nted"))
        #expect(folder.text.contains("sid=***; Path=/"))
        #expect(folder.text.contains("page=2"))
        for secret in [canary, "an0ther-secret-5d1c"] {
            try await folder.run { try await calls(secret) { $0.transport = .urlSession } }
        }
    }

    @Test func `a file that would contain a secret is not written`() async throws {
        let folder = try ReplayFolder("old")
        let server = server { _ in .init(headerFields: [.init("X-\(Self.canary)")!: "1"]) }
        let error = await #expect(throws: RequestError.self) {
            try await folder.run(.recordAll) {
                try await send("/n", request: { $0.authorization = .bearer(Self.canary) }, server)
            }
        }
        #expect(error?.reason.contains("api.har is not written: GET https://api.example.com/v2/n: it would") == true)
        #expect(folder.text == "old")
    }

    private static let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjNG5hcnkifQ.\(granted)"

    @Test(arguments: [
        ("application/jwt", jwt, "***"),
        ("application/xml", "<r a=\"1\"><jwt>\(jwt)</jwt></r>", "<r a=\"1\"><jwt>***</jwt></r>"),
        ("text/html", "<script>x = {\"token\": \"\(granted)\"}</script>", "<script>x = {\"token\": \"***\"}</script>"),
        ("application/octet-stream", "{\"n\": 1, \"token\": \"\(granted)\"}", "{\"n\": 1, \"token\": \"***\"}"),
        (
            "application/x-pem-file", "-----BEGIN PRIVATE KEY-----\n\(granted)\n-----END PRIVATE KEY-----\n",
            "-----BEGIN PRIVATE KEY-----***-----END PRIVATE KEY-----\n"
        ),
        ("multipart/mixed; boundary=b", "--c\r\n\r\n\(granted)\r\n--c--", "***"),
    ])
    func `credentials are hidden in bodies that are not parsed`(_ type: String, _ body: String, _ played: String)
        async throws
    {
        let folder = try ReplayFolder()
        let server = server { _ in .init(headerFields: [.contentType: type], body: .init(Data(body.utf8))) }
        try await folder.run(.recordAll) { try await send("/n", server) }
        #expect(!folder.text.contains("gr4nted"))
        try await folder.run {
            let text = try await String(decoding: send("/n").data, as: UTF8.self)
            #expect(text == played)
        }
    }

    @Test(arguments: ["text/plain", "application/json"])
    func `UTF-16 without a charset is read by its mark`(_ type: String) async throws {
        let folder = try ReplayFolder()
        let body = try #require(#"{"n": 1, "token": "\#(Self.granted)"}"#.data(using: .utf16))
        let server = server { _ in .init(headerFields: [.contentType: type], body: .init(body)) }
        try await folder.run(.recordAll) { try await send("/n", server) }
        try await folder.run {
            let text = try await String(decoding: send("/n").data, as: UTF8.self)
            #expect(text == #"{"n": 1, "token": "***"}"#)
        }
    }

    @Test(arguments: [
        ("application/json", #"{"pin": 123456, "id": 7, "password": "w0rd"}"#),
        ("application/x-ndjson", #"{"id": 7, "password": "w0rd", "pin": -1234.5e6}"#),
    ])
    func `a number that is hidden is still a number`(_ type: String, _ body: String) async throws {
        struct Account: Codable, Equatable {
            var id: Int
            var pin: Double
            var password: String
        }
        let folder = try ReplayFolder()
        let server = server { _ in .init(headerFields: [.contentType: type], body: .init(Data(body.utf8))) }
        func send(_ pin: Int, _ configure: (inout URLSession.Config) -> Void = { _ in }) async throws -> Account {
            try await URLConfigTestingTests.send(
                request: { ($0.method, $0.body) = (.post, .json(["pin": pin])) }, configure
            ).decode()
        }
        try await folder.run(.recordAll) { _ = try await send(4321, server) }
        for secret in ["123456", "1234.5", "4321", "w0rd"] { #expect(!folder.text.contains(secret)) }
        let played = Account(id: 7, pin: 0, password: "***")
        try await folder.run {
            let account = try await send(8765)
            #expect(account == played)
        }
        // A file of an earlier version.
        try Data(folder.text.replacing(#"{\"pin\":0}"#, with: #"{\"pin\":\"***\"}"#).utf8).write(to: folder.har)
        #expect(folder.text.contains(#"{\"pin\":\"***\"}"#))
        try await folder.run {
            let account = try await send(4321)
            #expect(account == played)
        }
    }

    @Test func `a number is hidden where a request repeats it, and the request is still played`() async throws {
        let folder = try ReplayFolder()
        let server = server { _ in .init(body: .init(Data("fine".utf8))) }
        let request = { @Sendable (config: inout URLRequest.Config) in
            (config.method, config.body) = (.post, .json(["pin": 123_456, "pinRepeat": 123_456]))
        }
        try await folder.run(.recordAll) { _ = try await send(request: request, server) }
        #expect(!folder.text.contains("123456"))
        try await folder.run {
            let text = try await send(request: request).text()
            #expect(text == "fine")
        }
    }

    @Test func `what a server gave is hidden in later requests, which are still played`() async throws {
        struct Login: Decodable {
            var sessionID: String

            enum CodingKeys: String, CodingKey { case sessionID = "session_id" }
        }
        let folder = try ReplayFolder()
        let server = server { request in
            let isLogin = request.urlRequest.url?.lastPathComponent == "login"
            let text = isLogin ? #"{"session_id": "\#(Self.granted)", "token": "words"}"# : "words of \(Self.granted)"
            return .init(
                headerFields: [.contentType: isLogin ? "application/json" : "text/plain", .eTag: "\(Self.canary)"],
                body: .init(Data(text.utf8)))
        }
        func calls(_ configure: (inout URLSession.Config) -> Void) async throws {
            let login: Login = try await send("/login", configure).decode()
            let id = login.sessionID
            let config = URLRequest.Config.api
            let request = config.with {
                $0.path = "/sessions/\(id)"
                $0.query["of"] = id
            }
            let form = config.with { ($0.method, $0.path, $0.body) = (.post, "/words", .form(["of": id])) }
            for request in [request, form] {
                let text = try await URLSession.shared.response(for: .with(request), configure).text()
                #expect(text.hasPrefix("words of"))
            }
        }
        try await folder.run(.recordAll) { try await calls(server) }
        #expect(!folder.text.contains("gr4nted"))
        #expect(folder.text.contains("/sessions/***?of=***"))
        #expect(folder.text.contains("words of ***"))
        #expect(folder.text.contains(Self.canary))
        try await folder.run { try await calls { $0.transport = .urlSession } }
    }

    @Test func `what is secret in one call, by its own names or in its URL, is hidden in the others`() async throws {
        let (tenant, word) = ("t3nant-k3y-99x", "correcthorse")
        let server = server { _ in
            .init(headerFields: [.contentType: "text/plain"], body: .init(Data("\(word) of \(tenant)".utf8)))
        }
        let folder = try ReplayFolder()
        func calls(_ configure: (inout URLSession.Config) -> Void) async throws {
            try await send("/a", configure)
            try await send(
                "/b", request: { $0.headers["X-Tenant-Key"] = tenant },
                {
                    configure(&$0)
                    $0.redaction = .standard.adding("X-Tenant-Key")
                })
            for path in ["/c?r=\(tenant)", "/d?password=\(word)", "/e/\(word)"] { try await send(path, configure) }
        }
        try await folder.run(.recordAll) { try await calls(server) }
        #expect(folder.text.contains("/c?r=***") && folder.text.contains("/e/***"))
        #expect(!folder.text.contains(tenant) && !folder.text.contains(word))
        try await folder.run { try await calls { $0.transport = .urlSession } }
    }

    @Test func `what is hidden only because another response has it is still played`() async throws {
        let folder = try ReplayFolder()
        let server = server { request in
            let path = request.urlRequest.url?.lastPathComponent ?? ""
            let text = path == "sessions" ? #"{"session_id": "keynote-2024a1"}"# : #"{"path": "\#(path.count)"}"#
            return .init(headerFields: [.contentType: "application/json"], body: .init(Data(text.utf8)))
        }
        func calls(_ configure: (inout URLSession.Config) -> Void) async throws {
            try await send("/sessions", configure)
            for path in ["/sessions/keynote-2024a1", "/sessions/keynote-2024a1/talks?of=keynote-2024a1&a=1"] {
                let text = try await send(path, configure).text()
                #expect(text.contains("\(path.contains("talks") ? 5 : 14)"))
            }
            for body in [RequestBody.json(["id": "keynote-2024a1", "a": "1"]), .form(["id": "keynote-2024a1"])] {
                try await send("/words", request: { ($0.method, $0.body) = (.post, body) }, configure)
            }
        }
        try await folder.run(.recordAll) { try await calls(server) }
        #expect(folder.text.contains("/sessions/***/talks?of=***&a=1"))
        #expect(!folder.text.contains("keynote"))
        try await folder.run { try await calls { $0.transport = .urlSession } }
    }

    @Test(arguments: [
        ("gr4nted-51b0c8d7aa; Path=/", "***; Path=/"), ("sid=\u{301}gr4nted; Path=/a=b", "sid=***; Path=/a=b"),
        ("sid=gr4nted", "sid=***"), ("gr4nted", "***"), ("sid=gr4nted=gr4nted; \u{301}", "sid=***; \u{301}"),
    ])
    func `the value of a cookie is hidden, even without a name`(_ cookie: String, _ shown: String) async throws {
        let folder = try ReplayFolder()
        let server = server { _ in .init(headerFields: [.setCookie: cookie]) }
        try await folder.run(.recordAll) { try await send("/n", server) }
        try await folder.run {
            let field = try await send("/n").headerFields[.setCookie]
            #expect(field == shown)
        }
    }
}
