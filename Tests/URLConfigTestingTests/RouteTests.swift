import Testing
import URLConfig

@testable import URLConfigTesting

struct RouteTests {
    @Test(arguments: [
        ("https://api.example.com/v2/users/{id}", "/users/7", nil),
        ("/v2/{a}/{b}", "/users/a%20b", nil),
        ("/v2/*", "/users/7/articles", nil),
        ("/v2/users?page=2", "/users?page=2&size=3", nil),
        ("https://api.example.com:443/v2/users", "/users", nil),
        ("/v2/users/{id}", "/user/1", "path /v2/user/1, expected /v2/users/{id}"),
        ("/v2/users/{id}", "/users/", "path /v2/users/, expected /v2/users/{id}"),
        ("/v2/users/{id}", "/users/1/2", "path /v2/users/1/2, expected /v2/users/{id}"),
        ("http://api.example.com/v2/users", "/users", "scheme https, expected http"),
        ("https://example.com/v2/users", "/users", "host api.example.com, expected example.com"),
        ("https://api.example.com:8443/v2/users", "/users", "port 443, expected 8443"),
        ("/v2/users?page=2", "/users?page=3", "query page=3, expected page=2"),
        ("/v2/users?page=2", "/users", "query without page, expected page=2"),
        ("/v2/users?token=s3cret", "/users?token=0ther", "query token=***, expected token=***"),
        ("/v2/users?code=s3cret", "/users?code=0ther", "query code=***, expected code=***"),
    ])
    func `a template matches, or the issue says what differs`(_ template: String, _ path: String, _ difference: String?)
        async throws
    {
        guard let difference else {
            _ = try await HTTPStubs.with({ $0.get(template) }, operation: { try await send(path) })
            return
        }
        let (text, line) = try await issue {
            try await HTTPStubs.with {
                $0.get(template).optional()
            } operation: {
                let error = await #expect(throws: RequestError.self) { try await send(path, line: 40) }
                #expect(error?.code == .notStubbed)
                #expect(error?.attempts.count == 1)
            }
        }
        #expect(text.contains("matches no route; the nearest:\n- route 1, GET \(template) ("))
        #expect(text.hasSuffix(": " + difference))
        #expect(line == 40)
    }

    @Test(arguments: ["http://[::1]:8080/x", "http://[2001:DB8::1]/x", "https://b\u{FC}cher.example/x"])
    func `a template may have any host`(_ template: String) async throws {
        try await HTTPStubs.with {
            $0.get(template)
        } operation: {
            try await send(request: { $0.url = URL(string: template) })
        }
    }

    @Test(arguments: [
        "/v2/{id", "/v2/id}", "/v2/{}", "/v2/{a}/{a}", "/v2/a{b}", "v2/users", "https://", "/v2#a", "http://[/",
    ])
    func `a template that is none is an error with its line`(_ template: String) async throws {
        let error = await #expect(throws: RequestError.self) {
            try await HTTPStubs.with({ $0.get(template, line: 3) }, operation: {})
        }
        #expect(error?.code == .invalidStubs)
        #expect(error?.reason.contains("URLConfigTestingTests/RouteTests.swift:3: GET \(template): ") == true)
    }

    @Test func `each method has its routes, and values have the type that is needed`() async throws {
        try await HTTPStubs.with {
            for verb in [$0.head, $0.put, $0.patch, $0.delete, $0.method(.init("QUERY")!)] { verb("/v2/a") }
            $0.get("/v2/{name}/{id}") { request in
                let (name, id): (String, UUID) = (request["name"], request["id"])
                return .text("\(name) \(id)")
            }
        } operation: {
            for method in ["HEAD", "PUT", "PATCH", "DELETE", "QUERY"] {
                try await send("/a", request: { $0.method = .init(method) ?? .get })
            }
            let id = UUID()
            let text = try await send("/a%2Fb/\(id)").text()
            #expect(text == "a/b \(id)")
        }
    }

    @Test func `two routes alike are an error, unless the first is used up`() async throws {
        let error = await #expect(throws: RequestError.self) {
            try await HTTPStubs.with({ for _ in 1...2 { $0.get("/v2/a") } }, operation: {})
        }
        #expect(error?.reason.contains("route 2, GET /v2/a, never matches, because route 1") == true)
        try await HTTPStubs.with {
            $0.get("/v2/users/1", .text("1")).times(1)
            $0.get("/v2/users/1", .text("2"))
        } operation: {
            let texts = [try await send().text(), try await send().text(), try await send().text()]
            #expect(texts == ["1", "2", "2"])
        }
    }

    struct Condition: Sendable {
        let text: String?
        let count: Int
        let set: @Sendable (HTTPStubs.Route) -> Void

        init(_ text: String?, used count: Int = 1, _ set: @escaping @Sendable (HTTPStubs.Route) -> Void) {
            (self.text, self.count, self.set) = (text, count, set)
        }
    }

    @Test(arguments: [
        Condition("field Accept=text/html, expected Accept=text/css") { $0.field(.accept, "text/css") },
        Condition("field Accept=text/html, expected without Accept") { $0.field(.accept, nil) },
        Condition("query a=1, expected a=2") { $0.query(["a": "2"]) },
        Condition("query without key, expected key=***") { $0.query(["key": "s3cret"]) },
        Condition("query item b, which is not expected") { $0.query(["a": "1"], exactly: true) },
        Condition("query a=1, expected without a") { $0.query(["a": nil]) },
        Condition("query item b, which is not expected") { $0.query(["a": "1", "z": nil], exactly: true) },
        Condition("query item c more than once, which is not expected") {
            $0.query(["a": "1", "b": "2", "c": "3"], exactly: true)
        },
        Condition("body: user.tags[1] is 2, expected 3") { $0.json(#"{"user": {"tags": [1, 3]}}"#) },
        Condition("body: user.age is missing") { $0.json(#"{"user": {"age": 3}}"#) },
        Condition("the expected JSON is malformed") { $0.json("{") },
        Condition("form without a, expected a=1") { $0.form(["a": "1"]) },
        Condition("form without code, expected code=***") { $0.form(["code": "s3cret"]) },
        Condition("it is not signed") { $0.matching("signed") { _ in false } },
    ])
    func `conditions say what differs`(_ condition: Condition) async throws {
        let (text, _) = try await refusal {
            condition.set($0.any("/v2/users/1").optional())
        } of: {
            try await send(
                "/users/1?a=1&b=2&c=3&c=4",
                request: {
                    ($0.method, $0.headers[.accept]) = (.post, "text/html")
                    $0.body = .json(["user": ["tags": [1, 2]]])
                })
        }
        #expect(text.hasSuffix(": " + (condition.text ?? "")))
    }

    @Test(arguments: [
        (#"{"password": "w0rd"}"#, "password is \"***\", expected \"***\""),
        (#"{"pin": 99}"#, "pin is \"***\", expected \"***\""),
        (#"{"list": [{"token": "0ther"}]}"#, "list[0].token is \"***\", expected \"***\""),
        (#"{"list": 3}"#, "list is [{\"token\":\"***\"}], expected 3"),
        (#"{"credentials": {"name": "Bob"}}"#, "credentials.name is \"Ada\", expected \"Bob\""),
        (#"{"password": {"new": "w0rd"}}"#, "password is \"***\", expected {\"new\":\"***\"}"),
    ])
    func `the difference of JSON shows no secrets`(_ expected: String, _ difference: String) async throws {
        let sent = #"{"password": "s3", "pin": 12, "list": [{"token": "s3"}], "credentials": {"name": "Ada"}}"#
        let (text, _) = try await refusal {
            $0.post("/v2/users/1").json(expected).optional()
        } of: {
            try await send(request: { ($0.method, $0.body) = (.post, .data(Data(sent.utf8), contentType: .json)) })
        }
        #expect(text.hasSuffix(": body: " + difference))
    }

    @Test func `conditions that hold`() async throws {
        try await HTTPStubs.with {
            $0.post("/v2/users/1").json(#"{"user": {"name": "Ada"}}"#).field(.accept, nil)
            $0.post("/v2/users/2").form(["a b": "c&d"]).query(["p": "ä"], exactly: true).matching("short") {
                $0.body.count < 100
            }
        } operation: {
            try await send(
                "/users/1", request: { ($0.method, $0.body) = (.post, .json(["user": ["name": "Ada", "x": "y"]])) })
            try await send(
                "/users/2?p=%C3%A4", request: { ($0.method, $0.body) = (.post, .form(["a b": "c&d", "e": "f"])) })
        }
    }

    @Test(arguments: [
        Condition("GET /v2/users/1 was used 1 of 2 times") { _ in },
        Condition("GET /v2/users/1 was never used", used: 0) { _ in },
        Condition("GET /v2/users/1 was used 1 of 2 times") { $0.times(2...) },
        Condition(nil, used: 0) { $0.optional() },
        Condition(nil, used: 0) { $0.times(0...1) },
        Condition(nil, used: 2) { $0.times(1...2) },
        Condition("GET /v2/users/1 was never used", used: 0) { $0.times(1...Int.max) },
        Condition(nil, used: 0) { $0.times(...Int.max) },
        Condition(nil, used: 2) { $0.times(..<3) },
    ])
    func `a route that is not used is an issue`(_ condition: Condition) async throws {
        let run = {
            try await HTTPStubs.with {
                condition.set($0.get("/v2/users/1", .text("1"), .text("2"), line: 5))
            } operation: {
                for _ in 0..<condition.count { try await send() }
            }
        }
        guard let expected = condition.text else { return try await run() }
        let (text, line) = try await issue(run)
        #expect(text == expected)
        #expect(line == 5)
    }

    @Test func `a list that is used up goes to the next route, or says so`() async throws {
        let (text, _) = try await issue {
            try await HTTPStubs.with {
                $0.get("/v2/users/1", .text("1"), .text("2"))
                $0.any("/v2/users/{id}", .text("3")).times(1)
                $0.post("/v2/users/1").optional()
                $0.get("/v2/users").optional()
            } operation: {
                let texts = [try await send().text(), try await send().text(), try await send().text()]
                #expect(texts == ["1", "2", "3"])
                _ = await #expect(throws: RequestError.self) { try await send() }
            }
        }
        let lines = text.split(separator: "\n").map { $0.replacing(/\(.*\)/, with: "") }
        #expect(
            lines == [
                "GET https://api.example.com/v2/users/1 matches no route; the nearest:",
                "- route 1, GET /v2/users/1 : has sent 2 of 2 responses",
                "- route 2, any /v2/users/{id} : has sent 1 of 1 responses",
                "- route 3, POST /v2/users/1 : method GET, expected POST",
            ])
    }

    @Test func `a wrong value in a condition is an issue at its own route`() async throws {
        let (text, _) = try await issue {
            try await HTTPStubs.with {
                $0.get("/v2/{id}", .text("")).matching("a big id") { ($0["id"] as Int) > 100 }
                $0.get("/v2/{name}") { _ in .text("other") }.optional()
            } operation: {
                _ = await #expect(throws: RequestError.self) { try await send("/abc") }
            }
        }
        #expect(text.hasSuffix("GET /v2/{id} cannot respond: {id}: abc is no Int"))
    }

    @Test func `a wrong name is an issue at the route, even if the closure throws`() async throws {
        let (text, line) = try await refusal {
            $0.get("/v2/{id}", line: 9) { request in
                guard request["ID"] == "abc" else { throw URLError(.badURL) }
                return .status(.ok)
            }
        } of: {
            try await send("/abc")
        }
        #expect(text.hasSuffix("GET /v2/{id} cannot respond: {ID}: the template has no such name"))
        #expect(line == 9)
    }

    @Test(arguments: [("/v2/{id}", "abc is no Int"), ("/v2/{name}", "the template has no such name")])
    func `a value that is none is an issue at the route`(_ template: String, _ mistake: String) async throws {
        let (text, line) = try await refusal {
            $0.get(template, line: 9) { .json(User(id: $0["id"], name: "")) }
        } of: {
            try await send("/abc")
        }
        #expect(text.hasSuffix("GET \(template) cannot respond: {id}: \(mistake)"))
        #expect(line == 9)
    }
}
