import FlyingFox
import Testing
import URLConfig

@Suite struct ProblemDecodableTests {
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
    }

    @Test func `another type of content is decoded on demand, if it looks like a problem`() throws {
        let json = #"{"title": "Gone", "status": 410, "since": {"year": 2020}}"#
        let problem = try DataResponseTests.response(json.utf8).decode(Problem.self)
        #expect(problem.title == "Gone")
        #expect(problem.status == .gone)
        #expect(problem["since", as: [String: Int].self] == ["year": 2020])
        let error = #expect(throws: RequestError.self) {
            try DataResponseTests.response(#"{"message": "no"}"#.utf8).decode(Problem.self)
        }
        #expect(error?.code == .decoding)
    }

    @Test(arguments: [31, 32, 500, 100_000])
    func `a member of any depth does no harm`(depth: Int) {
        let value = String(repeating: "[", count: depth) + "1" + String(repeating: "]", count: depth)
        let json = "{\"title\": \"a\", \"deep\": \(value)}"
        let response = DataResponseTests.response(json.utf8, contentType: "application/problem+json")
        if depth <= 500 { #expect(response.problem?.title == "a") }
        if depth < 50 { #expect(response.problem?["deep", as: Deep.self]?.depth == depth) }
        let decoded = try? response.decode(Problem.self)
        if depth <= 500 { #expect(decoded?.title == "a") }
        if depth < 50 { #expect(decoded?["deep", as: Deep.self]?.depth == depth) }
    }

    @Test(arguments: ["[]", "{}", "1", "null", "\"a\""])
    func `members in masses are not gone through`(value: String) throws {
        let list = String(repeating: value + ",", count: 20_000) + value
        let json = "{\"before\":[1],\"list\":[\(list)],\"title\":\"a\",\"status\":410}"
        let response = DataResponseTests.response(json.utf8, contentType: "application/problem+json")
        #expect(response.problem?.title == "a")
        #expect(response.problem?["before"] == [1])
        let problem = try response.decode(Problem.self)
        #expect(problem["before"] == [1])
        #expect(problem.title == "a")
        #expect(problem.status == .gone)
        let nested = try DataResponseTests.response("{\"in\":[\(json)]}".utf8).decode([String: [Problem]].self)
        #expect(nested["in"]?.first?.status == .gone)
    }

    @Test func `within another model it has the five members, as they are written`() throws {
        struct Envelope: Decodable { var error: Problem }
        let json =
            #"{"error":{"type":"/a","title":"b","status":410,"detail":["c"],"instance":"https://h.example/d","e":1}}"#
        let problem = try DataResponseTests.response(json.utf8).decode(Envelope.self).error
        #expect(problem.type == "/a" && problem.title == "b" && problem.detail == nil && problem.status == .gone)
        #expect(problem.instance?.absoluteString == "https://h.example/d")
        #expect(problem["e", as: Int.self] == nil)
        #expect(throws: RequestError.self) {
            try DataResponseTests.response(#"{"error":{"e":1}}"#.utf8).decode(Envelope.self)
        }
    }

    @Test func `a content longer than any problem is none`() {
        let json = "{\"title\":\"\(String(repeating: "a", count: 500_000))\"}"
        #expect(DataResponseTests.response(json.utf8, contentType: "application/problem+json").problem == nil)
    }

    @Test func `a number is read as it was sent, whatever its type`() {
        let json = #"{"id":18446744073709551615,"price":0.1234567890123456789,"\u0061\n":1}"#
        let problem = DataResponseTests.response(json.utf8, contentType: "application/problem+json").problem
        #expect(problem?["id"] == UInt64.max)
        #expect(problem?["price"] == Decimal(string: "0.1234567890123456789"))
    }

    @Test func `a problem is thrown and caught`() async throws {
        try await Loopback.serving { _ in
            var response = FlyingFox.HTTPResponse.json(
                #"{"type": "/probs/busy", "title": "Busy", "detail": "ssn=078-05-1120"}"#, status: .serviceUnavailable)
            response.headers[.contentType] = "application/problem+json"
            return response
        } _: { server in
            let problem = await #expect(throws: Problem.self) {
                try await server.get {
                    $0.redaction = .standard.adding("ssn")
                    $0.validators = [.orThrow(Problem.self)]
                }
            }
            #expect(problem?.type == server.host + "/probs/busy")
            #expect("\(problem as Any)".contains("503 Busy: ssn=*** (\(server.host)/probs/busy)"))
        }
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
