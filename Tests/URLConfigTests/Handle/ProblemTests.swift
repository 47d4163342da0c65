import Testing
import URLConfig

/// Problem details: RFC 9457.
@Suite struct ProblemTests {
    private static func problem(_ json: String, status: HTTPResponse.Status = .forbidden) -> Problem? {
        DataResponseTests.response(json.utf8, contentType: "application/problem+json", status: status).problem
    }

    /// RFC 9457 §3, figure 2.
    private static let outOfCredit = #"""
        {
          "type": "https://example.com/probs/out-of-credit", "title": "You do not have enough credit.",
          "detail": "Your current balance is 30, but that costs 50.", "instance": "/account/12345/msgs/abc",
          "balance": 30, "accounts": ["/account/12345", "/account/67890"]
        }
        """#

    @Test func `the five members and extensions are read`() throws {
        let problem = try #require(Self.problem(Self.outOfCredit))
        #expect(problem.type == "https://example.com/probs/out-of-credit")
        #expect(problem.title == "You do not have enough credit.")
        #expect(problem.status == .forbidden)
        #expect(problem.detail == "Your current balance is 30, but that costs 50.")
        #expect(problem.instance?.absoluteString == "https://api.example.com/account/12345/msgs/abc")
        #expect(problem["balance", as: Int.self] == 30)
        let accounts: [String]? = problem["accounts"]
        #expect(accounts == ["/account/12345", "/account/67890"])
        #expect(problem["instance"] == "/account/12345/msgs/abc")
        #expect(problem["balance", as: String.self] == nil)
        #expect(problem["missing", as: Int.self] == nil)
    }

    @Test(arguments: [
        #"{"balance": true}"#, #"{"balance": 9007199254740993}"#, #"{"balance": 0.1}"#, #"{"balance": -1e300}"#,
        #"{"balance": "\u0000ä"}"#, #"{"balance": null}"#, #"{"balance": [[], {}, [1, [null]]]}"#,
    ])
    func `an extension is read as it was sent`(json: String) throws {
        struct Whole<Value: Decodable>: Decodable { var balance: Value }
        func expectSame<Value: Decodable & Equatable>(_ type: Value.Type) {
            let whole = try? JSONDecoder().decode(Whole<Value>.self, from: Data(json.utf8))
            #expect(Self.problem(json)?["balance", as: type] == whole?.balance, "\(type)")
        }
        expectSame(Bool.self)
        expectSame(Int.self)
        expectSame(Double.self)
        expectSame(String.self)
        expectSame(Int?.self)
    }

    @Test func `the default decoder reads extensions`() async {
        await #expect(processExitsWith: .success) {
            struct Limit: Decodable { var resetAt: Date }
            let problem = Self.problem(#"{"retry_limit": {"reset_at": 60}}"#)
            #expect(problem?["retry_limit", as: Limit.self] == nil)
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            decoder.dateDecodingStrategy = .secondsSince1970
            DataResponse.Config.defaultDecoder = decoder
            #expect(problem?["retry_limit", as: Limit.self]?.resetAt == Date(timeIntervalSince1970: 60))
        }
    }

    @Test func `a character of any length takes no time, and is cut`() {
        let title = "a" + String(repeating: "\u{301}", count: 1_000_000)
        #expect("\(Problem(title: title))".unicodeScalars.count == 1_000)
    }

    /// §3.1: a member whose type is not as specified is ignored.
    @Test func `members of a wrong type are ignored`() throws {
        let json = #"{"type": 1, "title": ["a"], "status": "404", "detail": {"a": 1}, "instance": true}"#
        let problem = try #require(Self.problem(json))
        #expect(problem.type == "about:blank")
        #expect(problem.title == nil && problem.detail == nil && problem.instance == nil)
        #expect(problem.status == .forbidden)
        #expect(problem["detail", as: [String: Int].self] == ["a": 1])
    }

    @Test(arguments: [
        ("404", 404), ("599", 599), ("600", 403), ("99", 403), ("-1", 403), ("1e9", 403), ("404.5", 403), ("1000", 403),
        ("99999999999999999999", 403), ("404.0", 404), ("true", 403),
    ])
    func `a status is one of three digits`(value: String, code: Int) {
        #expect(Self.problem("{\"status\": \(value)}")?.status?.code == code)
    }

    /// §3.1.1: consumers compare the type once it is resolved.
    @Test(arguments: [
        ("/probs/a", "https://api.example.com/probs/a"), ("tag:a.example,2026:b", "tag:a.example,2026:b"),
        ("about:blank", "about:blank"), ("http://[", "http://["),
    ])
    func `a type is resolved`(type: String, expected: String) {
        #expect(Self.problem("{\"type\": \"\(type)\"}")?.type == expected)
    }

    @Test func `it reads like a sentence`() {
        #expect(
            Self.problem(Self.outOfCredit)?.localizedDescription
                == "403 You do not have enough credit. Your current balance is 30, but that costs 50. "
                + "(https://example.com/probs/out-of-credit, https://api.example.com/account/12345/msgs/abc)")
        #expect("\(Problem(title: "Closed", status: .conflict, detail: "Until noon"))" == "409 Closed: Until noon")
        #expect("\(Problem(status: .notFound))" == "404 Not Found")
        #expect("\(Problem())" == "problem")
    }

    @Test func `it shows no secret, no control character and no more than fits`() {
        let text = String(
            reflecting: Self.problem(
                #"""
                {"type": "https://u:t0psecret@a.example/?token=t0psecret", "instance": "/?api_key=t0psecret",
                 "title": "\u001b[2J a\nb\r\nc\u202e", "detail": "/login?password=t0psecret", "email": "ann@a.example"}
                """#) as Any)
        for part in ["t0psecret", "ann@", "\u{1B}", "\n", "\r", "\u{202E}"] {
            #expect(!text.unicodeScalars.contains(part.unicodeScalars), "\(part.debugDescription) is in: \(text)")
        }
        #expect(text.contains("password=***"))
        let long = String(repeating: "a", count: 1_000_000)
        #expect("\(Problem(title: long, detail: long))".count < 3_000)
    }
}
