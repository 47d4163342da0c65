import Testing
import URLConfig
import URLConfigTesting

/// Problem details: RFC 9457.
@Suite(.inTime) struct ProblemTests {
    private static func problem(_ json: String, status: Status = .forbidden) -> Problem? {
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
        #"{"\u0061\n": 1, "balance": 18446744073709551615}"#, #"{"balance": 0.1234567890123456789}"#,
    ])
    func `an extension is read as it was sent`(json: String) throws {
        struct Whole<Value: Decodable>: Decodable { var balance: Value }
        func expectSame<Value: Decodable & Equatable>(_ type: Value.Type) {
            let whole = try? JSONDecoder().decode(Whole<Value>.self, from: Data(json.utf8))
            #expect(Self.problem(json)?["balance", as: type] == whole?.balance, "\(type)")
        }
        expectSame(Bool.self)
        expectSame(Int.self)
        expectSame(UInt64.self)
        expectSame(Double.self)
        expectSame(Decimal.self)
        expectSame(String.self)
        expectSame(Int?.self)
    }

    @Test func `an extension is JSON, whatever the decoder of the call reads`() async throws {
        let json = Data(#"{"title":"t","balance":30}"#.utf8)
        let request = URLRequest.with(.init(host: "https://h.example"))
        let response = try await URLSession.shared.response(for: request) {
            ($0.logger, $0.decoder) = (nil, PropertyListDecoder())
            $0.transport = Transport { _ in
                .init(headerFields: [.contentType: "application/problem+json"], body: .init(json))
            }
        }
        #expect(response.problem?["balance", as: Int.self] == 30)
    }

    @Test func `a long problem has its status and its other members, too`() throws {
        let json = #"{"type":"/long","a":1,"title":"\#(String(repeating: "a", count: 500_000))"}"#
        let response = DataResponseTests.response(
            json.utf8, contentType: "application/problem+json", status: .unprocessableContent)
        let problem = try response.decode(Problem.self)
        #expect(problem.status == .unprocessableContent && problem["a", as: Int.self] == 1)
        #expect(problem.type.hasPrefix("http") && problem.type.hasSuffix("/long"))
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
        let character = "a" + String(repeating: "\u{301}", count: 1_000_000)
        #expect("\(Problem(title: character))".unicodeScalars.count == 1_000)
    }

    // Which content is a problem, and how it is decoded.

    @Test(
        arguments: [
            ("application/problem+json", "{}", true), ("Application/Problem+JSON; charset=utf-8", "{}", true),
            ("application/problem+json", "\u{FEFF}{}", true), ("application/json", #"{"title": "a"}"#, false),
            ("application/problem+xml", "<problem/>", false), (nil, "{}", false),
            ("application/problem+json", "[]", false), ("application/problem+json", "", false),
            ("application/problem+json", "{", false), ("application/problem+json", "null", false),
        ] as [(String?, String, Bool)])
    func `a problem has its content type and is an object`(contentType: String?, json: String, isOne: Bool) {
        let response = DataResponseTests.response(json.utf8, contentType: contentType)
        #expect((response.problem != nil) == isOne)
        #expect(Self.problem("{\"title\":\"\(String(repeating: "a", count: 500_000))\"}") == nil, "it is too long")
    }

    @Test func `other content is decoded on demand if it looks like a problem, even within another model`() throws {
        let json = #"{"title": "Gone", "status": 410, "since": {"year": 2020}}"#
        let problem = try DataResponseTests.response(json.utf8).decode(Problem.self)
        #expect(problem.title == "Gone" && problem.status == .gone)
        #expect(problem["since", as: [String: Int].self] == ["year": 2020])
        struct Envelope: Decodable { var error: Problem }
        let outer =
            #"{"error":{"type":"/a","title":"b","status":410,"detail":["c"],"instance":"https://h.example/d","e":1}}"#
        let inner = try DataResponseTests.response(outer.utf8).decode(Envelope.self).error
        #expect(inner.type == "/a" && inner.title == "b" && inner.detail == nil && inner.status == .gone)
        #expect(inner.instance?.absoluteString == "https://h.example/d" && inner["e", as: Int.self] == nil)
        let other = DataResponseTests.response(#"{"error":{"e":1}}"#.utf8)
        expectThrown(.decoding) { try other.decode(Problem.self) }
        expectThrown(.decoding) { try other.decode(Envelope.self) }
    }

    @Test(arguments: [31, 32, 500, 100_000])
    func `a member of any depth does not crash`(depth: Int) {
        let value = String(repeating: "[", count: depth) + "1" + String(repeating: "]", count: depth)
        let json = "{\"title\": \"a\", \"deep\": \(value)}"
        let response = DataResponseTests.response(json.utf8, contentType: "application/problem+json")
        for problem in [response.problem, try? response.decode(Problem.self)] {
            if depth <= 500 { #expect(problem?.title == "a") }
            if depth < 50 { #expect(problem?["deep", as: Deep.self]?.depth == depth) }
        }
    }

    @Test(arguments: ["[]", "{}", "1", "null", "\"a\""])
    func `very many members of an extension cost no time`(value: String) throws {
        let list = String(repeating: value + ",", count: 20_000) + value
        let json = "{\"before\":[1],\"list\":[\(list)],\"title\":\"a\",\"status\":410}"
        let response = DataResponseTests.response(json.utf8, contentType: "application/problem+json")
        for problem in [response.problem, try response.decode(Problem.self)] {
            #expect(problem?["before"] == [1])
            #expect(problem?.title == "a")
            #expect(problem?.status == .gone)
        }
        let nested = try DataResponseTests.response("{\"in\":[\(json)]}".utf8).decode([String: [Problem]].self)
        #expect(nested["in"]?.first?.status == .gone)
    }

    @Test(.oneAtATime) func `a type of combining marks is shown in linear time`() {
        expectLinearTime(from: 4000) { count in
            let problem = Problem(type: String(repeating: "\u{301}\u{316}", count: count), title: "Busy")
            #expect("\(problem)".utf8.starts(with: "Busy (".utf8))
        }
    }

    @Test func `a problem is thrown and caught`() async throws {
        let json = #"{"type": "/probs/busy", "title": "Busy", "detail": "ssn=078-05-1120"}"#
        let busy = HTTPStubs.Response.json(json, status: .serviceUnavailable)
        let problem = await #expect(throws: Problem.self) {
            try await stubs.get(busy.field(.contentType, "application/problem+json")) {
                $0.redaction = .standard.adding("ssn")
                $0.validators = [.orThrow(Problem.self)]
            }
        }
        #expect(problem?.type == "https://api.test/probs/busy")
        #expect("\(problem as Any)".contains("503 Busy: ssn=*** (https://api.test/probs/busy)"))
    }
}

/// Nested arrays around a number.
private struct Deep: Decodable {
    let depth: Int

    init(from decoder: any Decoder) throws {
        if (try? Int(from: decoder)) != nil {
            depth = 0
        } else {
            depth = 1 + (try [Deep](from: decoder).first?.depth ?? 0)
        }
    }
}
