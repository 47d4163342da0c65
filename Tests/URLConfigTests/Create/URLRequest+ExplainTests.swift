import Testing

@testable import URLConfig

/// Tables that say who has set what of a request.
@Suite(.inTime) struct URLRequestExplainTests {
    private static let api = URLRequest.Config(host: "https://api.example.com/v2") {
        $0.headers[.accept] = "application/json"
        $0.headers["X-Tenant"] = "main"
        $0.query["page"] = 1
        $0.timeout = .seconds(30)
        $0.authorization = .bearer("s3cret-t0ken")
    }

    @Test func `the table of a request names the preset, the closure and the member that has set a field`() {
        let table = URLRequest.explain(Self.api) {
            $0.method = .post
            $0.path = "/users/\(7)"
            $0.query["sort"] = "name"
            $0.headers["x-tenant"] = "other"
            $0.timeout = nil
            $0.body["title"] = "s3cret title"
        }
        #expect(
            table == """
                POST https://api.example.com/v2/users/7?page=1&sort=name

                NAME                      VALUE                        SOURCE
                host                      https://api.example.com/v2   preset
                path                      /users/7                     closure
                method                    POST                         closure
                authorization             set                          preset or later
                body                      <24 bytes application/json>  closure
                timeout                   none                         closure, instead of preset
                query["page"]             1                            preset
                query["sort"]             name                         closure
                headers["accept"]         application/json             preset
                headers["authorization"]  Bearer ***                   preset
                headers["content-type"]   application/json             closure
                headers["x-tenant"]       other                        closure, instead of preset
                """)
        #expect(URLRequest.explain(Self.api).row("timeout") == "30.0 s preset")
    }

    typealias Change = @Sendable (inout URLRequest.Config) -> Void

    static let changes: [(String, String?, Change)] = [
        (
            "headers[\"authorization\"]", "Bearer *** closure, instead of preset",
            { $0.authorization = .bearer("an0ther-t0ken") }
        ),
        ("headers[\"authorization\"]", "Bearer *** preset", { $0.authorization = .bearer("s3cret-t0ken") }),
        ("headers[\"authorization\"]", "*** closure, instead of preset", { $0.headers[.authorization] = "own" }),
        (
            "headers[\"authorization\"]", "none closure, instead of preset",
            { $0.url = URL(string: "https://other.example.com/") }
        ),
        ("query[\"page\"]", "none closure, instead of preset", { $0.url = URL(string: "https://other.example.com/") }),
        ("authorization", "none closure, instead of preset", { $0.authorization = nil }),
        ("headers[\"cookie\"]", "*** closure", { $0.authorization = .init { $0[.cookie] = "a=b" } }),
        ("headers[\"x-tenant\"]", "none closure, instead of preset", { $0.headers["X-Tenant"] = nil }),
        ("idempotencyKey", "automatic closure", { $0.idempotencyKey = .automatic }),
        ("headers[\"idempotency-key\"]", nil, { $0.idempotencyKey = .automatic }),
        ("idempotencyKey", "order-1 closure", { $0.idempotencyKey = "order-1" }),
        ("encoder", "JSONEncoder closure", { $0.encoder.dateEncodingStrategy = .iso8601 }),
        ("query.arrayStyle", "comma closure", { $0.query.arrayStyle = .comma }),
        ("query[\"page\"]", "1,2 closure, instead of preset", { $0.query.append("page", 2) }),
        ("query[\"at\"]", "<encoded> closure", { $0.query["at"] = Date() }),
        ("cachePolicy", "returnCacheDataDontLoad closure", { $0.cachePolicy = .returnCacheDataDontLoad }),
        ("modify", "set closure", { $0.modify = { $0.allowsCellularAccess = false } }),
        (
            "headers[\"x-late\"]", "1 closure",
            {
                $0.modify = { $0.setValue("1", forHTTPHeaderField: "X-Late") }
            }
        ),
    ]

    @Test(arguments: changes) func `each member has its value and its source`(
        name: String, expected: String?, change: Change
    ) {
        #expect(URLRequest.explain(Self.api, change).row(name) == expected)
    }

    @Test func `a value that is another one each time is from the one who has set its function`() {
        let preset = Self.api.with {
            $0.authorization = .init { $0[.authorization] = "Digest nonce=\(UUID())" }
            $0.modify = { $0.setValue("\(UUID())", forHTTPHeaderField: "X-Request-ID") }
        }
        let table = URLRequest.explain(preset) { $0.path = "/users" }
        #expect(table.row("headers[\"authorization\"]") == "*** preset or later")
        let row = "headers[\"x-request-id\"]"
        #expect(table.row(row)?.hasSuffix(" preset or later") == true, "\(table)")
        let fixed = URLRequest.explain(preset) { $0.modify = { $0.setValue("1", forHTTPHeaderField: "X-Request-ID") } }
        #expect(fixed.row(row) == "1 closure, instead of preset")
        let new = URLRequest.explain(Self.api.with { $0.headers["X-Request-ID"] = "1" }) { $0.modify = preset.modify }
        #expect(new.row(row)?.hasSuffix(" closure, instead of preset") == true, "\(new)")
    }

    #if os(Linux) || os(macOS)
    @Test func `without a preset, the values are from the default`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            let first = URLRequest.explain { $0.host = "https://h.example" }
            #expect(first.row("host") == "https://h.example closure")
            URLRequest.Config.default = Self.api
            URLRequest.Config.defaultEncoder = JSONEncoder()
            let table = URLRequest.explain { $0.host = "https://h.example" }
            #expect(table.row("host") == "https://h.example closure, instead of default")
            #expect(table.row("headers[\"accept\"]") == "application/json default")
            #expect(table.row("encoder") == "JSONEncoder default")
            #expect(
                URLRequest.explain(.init(host: "https://h.example")).row("timeout") == "none preset, instead of default"
            )
        }
    }
    #endif

    static let mistakes: [(String, Change)] = [
        ("host 'https://***@h.example' has a user name or password", { $0.host = "https://ann:s3cret@h.example" }),
        ("path '/../s' contains the segment '..'", { $0.path = "/../s" }),
        ("body: GET cannot have one", { $0.body["a"] = "s3cret" }),
        ("authorization: the bearer token is empty", { $0.authorization = .bearer("s3cret\n") }),
        ("timeout is -1.0 s", { $0.timeout = .seconds(-1) }),
        ("url was set to nil", { $0.url = nil }),
        ("a header field's name is not a token", { $0.headers["s3cret: "] = "a" }),
        ("the method is not a token", { $0.modify = { $0.httpMethod = "A\r\nB" } }),
    ]

    @Test(arguments: mistakes)
    func `a request that cannot be built has a table, and the reason above it`(reason: String, change: Change) {
        let table = URLRequest.explain(Self.api, change)
        #expect(table.prefix { $0 != "\n" }.contains(reason), "\(table)")
        #expect(table.row("query[\"page\"]") == "1 preset" && !table.contains("s3cret"))
    }

    @Test(arguments: ["s3cret-c4nary-7", "c4nary\u{1B}[31m\n\r\n", String(repeating: "c4nary7/", count: 10_000)])
    func `no secret and no control character is shown, and long values are cut`(canary: String) {
        let table = URLRequest.explain(Self.api) {
            $0.host = "https://h.example/a?token=\(canary.percentEncoded(.unreserved))"
            $0.query["api_key"] = canary
            $0.query["note"] = "\u{1B}[31m\n" + String(repeating: "long ", count: 1000)
            $0.query[canary] = "name"
            $0.headers[.cookie] = canary
            $0.headers["X-Api-Key"] = canary
            // `basic` refuses control characters.
            let password = Data("ann:\(canary)".utf8).base64EncodedString()
            $0.authorization = Authorization { $0[.authorization] = "Basic \(password)" }
            $0.path = "/of/\(canary)"
            $0.method = .post
            $0.body["password"] = canary
            $0.modify = { $0.setValue(canary, forHTTPHeaderField: "X-Auth-Token") }
        }
        #expect(!table.contains("c4nary") && table.row("headers[\"cookie\"]") == "*** closure", "\(table)")
        #expect(table.unicodeScalars.allSatisfy { $0.value >= 0x20 || $0 == "\n" } && table.count < 5000)
    }

    @Test(.oneAtATime) func `combining marks in names and values take linear time`() {
        let factor = growth(from: 1000) { count in
            let text = String(repeating: "\u{301}\u{316}", count: count)
            let preset = Self.api.with { $0.query["a"] = text + "b" }
            let table = URLRequest.explain(preset) {
                ($0.query["a"], $0.query[text], $0.path) = (text, text, "/\(text)")
            }
            #expect(table.count < 3000)
        }
        #expect(factor < 24)
    }

    @Test func `no member is forgotten`() {
        let others = ["fields": "headers", "base": "host", "customEncoder": "encoder", "query": "query.arrayStyle"]
        let unseen = ["cachedHeaders", "own", "changes", "isURLMissing", "headers", "generations"]
        let members = Set(Self.api.settings(.standard).map(\.name))
        let stored = storedProperties(of: URLRequest.Config.self).map { others[$0] ?? $0 }
        #expect(stored.filter { !members.contains($0) && !unseen.contains($0) } == [])
    }
}
