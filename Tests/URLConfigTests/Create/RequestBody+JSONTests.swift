import Foundation
import Testing
import URLConfig

/// Members of every type, with the strategies of the encoder.
@Suite struct RequestBodyJSONTests {
    private func text(_ configure: (inout URLRequest.Config) -> Void) -> String? {
        let config = URLRequest.Config(host: "https://h.example") { $0.method = .post }
        return URLRequest.with(config, configure).bodyText
    }

    @Test func `a literal may mix types and nest`() {
        #expect(text { $0.body["m"] = [1, "a", 1.5, true, .null] } == #"{"m":[1,"a",1.5,true,null]}"#)
        #expect(
            text { $0.body["m"] = ["a": ["b": [1, ["c": .null]]], "d": [[], [:]]] }
                == #"{"m":{"a":{"b":[1,{"c":null}]},"d":[[],{}]}}"#)
        #expect(text { $0.body["m"] = [:] } == #"{"m":{}}"#)
        #expect(text { $0.body["m"] = [] } == #"{"m":[]}"#)
        #expect(text { $0.body["m"] = ["a": -1, "a": 2] as RequestBody.JSON } == #"{"m":{"a":2}}"#)
    }

    @Test func `null is a value, and nil leaves a member out, wherever they are`() {
        let (none, some) = (String?.none, Optional("s"))
        #expect(text { $0.body["m"] = .null } == #"{"m":null}"#)
        #expect(text { $0.body["m"] = none ?? .null } == #"{"m":null}"#)
        #expect(text { $0.body["m"] = some == nil ? 1 : .null } == #"{"m":null}"#)
        #expect(text { $0.body["m"] = nil } == nil)
        #expect(text { $0.body["m"] = none } == nil)
        #expect(text { $0.body["m"] = some } == #"{"m":"s"}"#)
        #expect(text { $0.body["m"] = ["a": .null, "b": nil] } == #"{"m":{"a":null}}"#)
        #expect(text { $0.body["m"] = ["a": 1, "b": nil] } == #"{"m":{"a":1}}"#)
        #expect(text { $0.body["m"] = ["a", .null] } == #"{"m":["a",null]}"#)
        #expect(text { $0.body["m"] = [.null] } == #"{"m":[null]}"#)
        #expect(text { $0.body["m"] = ["a": .value(none), "b": .value(some), "c": 1] } == #"{"m":{"b":"s","c":1}}"#)
    }

    @Test func `nil variables leave their members out at every depth`() {
        let (none, some) = (String?.none, Optional("s"))
        #expect(text { $0.body["m"] = ["a": none, "b": some] } == #"{"m":{"b":"s"}}"#)
        #expect(text { $0.body["m"] = ["x": 1.5, "y": ["a": none, "b": "c"]] } == #"{"m":{"x":1.5,"y":{"b":"c"}}}"#)
        #expect(text { $0.body["m"] = ["x": ["y": ["a": none, "b": some]]] } == #"{"m":{"x":{"y":{"b":"s"}}}}"#)
        #expect(text { $0.body["m"] = ["x": [["a": none], ["a": some]]] } == #"{"m":{"x":[{},{"a":"s"}]}}"#)
        #expect(text { $0.body["m"] = [["a": none, "b": 1]] } == #"{"m":[{"b":1}]}"#)
        #expect(text { $0.body = ["m": ["a": none, "b": some]] } == #"{"m":{"b":"s"}}"#)
        #expect(text { $0.body = .json(["a": none, "b": some]) } == #"{"b":"s"}"#)
        let members = ["a": none, "b": some]
        #expect(text { $0.body["m"] = members } == #"{"m":{"b":"s"}}"#)
        #expect(text { $0.body["m"] = [members: 1].keys.first } == #"{"m":{"b":"s"}}"#)
        #expect(text { $0.body["m"] = [none, some] } == #"{"m":[null,"s"]}"#)
    }

    @Test func `a literal may contain variables of several types`() {
        let (number, title, none) = (7, "t", Int?.none)
        #expect(
            text { $0.body["m"] = ["number": number, "title": title, "none": none, "null": .null] }
                == #"{"m":{"null":null,"number":7,"title":"t"}}"#)
        #expect(text { $0.body["m"] = ["t": "\(title)\(number)", "n": 1] } == #"{"m":{"n":1,"t":"t7"}}"#)
        #expect(
            text { $0.body["m"] = [["id": number, "title": title, "none": none]] }
                == #"{"m":[{"id":7,"title":"t"}]}"#)
        #expect(
            text { $0.body["m"] = ["list": [["id": .value(number), "qty": 2]], "title": .value(title)] }
                == #"{"m":{"list":[{"id":7,"qty":2}],"title":"t"}}"#)
    }

    @Test func `a variable in a literal keeps its type at every depth`() {
        let price = 1.5
        #expect(text { $0.body["m"] = ["a": .value(price), "b": "x"] } == #"{"m":{"a":1.5,"b":"x"}}"#)
        #expect(text { $0.body["m"] = ["a": .value(price), "b": 2] } == #"{"m":{"a":1.5,"b":2}}"#)
        #expect(text { $0.body["m"] = [["a": .value(price), "b": 2]] } == #"{"m":[{"a":1.5,"b":2}]}"#)
        #expect(text { $0.body["m"] = ["z": ["a": .value(price), "b": 2]] } == #"{"m":{"z":{"a":1.5,"b":2}}}"#)
        #expect(text { $0.body["m"] = ["z": ["a": .value(price), "b": "x"]] } == #"{"m":{"z":{"a":1.5,"b":"x"}}}"#)
        #expect(text { $0.body["m"] = [.value(price), "x"] } == #"{"m":[1.5,"x"]}"#)
        #expect(text { $0.body = .json(["a": .value(price), "b": 2]) } == #"{"a":1.5,"b":2}"#)
    }

    @Test func `a condition may choose between an object and nothing`() {
        for (flag, expected) in [(true, #"{"m":{"a":1,"b":"x"}}"#), (false, nil)] {
            let (one, x) = (1, "x")
            #expect(text { $0.body["m"] = flag ? ["a": one, "b": x] : nil } == expected)
            #expect(text { $0.body["m"] = flag ? ["a": 1, "b": "x"] : nil } == expected)
        }
    }

    @Test func `literals of one type are arrays and dictionaries as ever`() {
        #expect(text { $0.body["m"] = [1, 2] } == #"{"m":[1,2]}"#)
        #expect(text { $0.body["m"] = ["a": "x"] } == #"{"m":{"a":"x"}}"#)
        #expect(text { $0.body["m"] = "x" } == #"{"m":"x"}"#)
        #expect(text { $0.body["m"] = 1.5 } == #"{"m":1.5}"#)
        #expect(text { $0.body["m"] = true } == #"{"m":true}"#)
    }

    @Test func `each literal encodes as itself`() {
        let json: RequestBody.JSON = ["a": [.null, false, 9_223_372_036_854_775_807, 0.5, "\"\\\n\u{E9}\u{1F600}"]]
        #expect(
            text { $0.body = .json(json) }
                == "{\"a\":[null,false,9223372036854775807,0.5,\"\\\"\\\\\\n\u{E9}\u{1F600}\"]}")
    }

    private struct Article: Encodable {
        var pageTitle = "t"
        var postedAt = Date(timeIntervalSince1970: 0)
        var rawData = Data([1])
    }

    private static func snakeCase() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.dateEncodingStrategy = .iso8601
        return encoder
    }

    @Test func `dates and data follow the encoder, whatever way they come`() {
        let date = Date(timeIntervalSince1970: 0)
        let body = text {
            $0.encoder = Self.snakeCase()
            $0.body["date"] = date
            $0.body["list"] = [date]
            $0.body["object"] = ["date": date, "n": 1]
            $0.body["data"] = Data([1])
            $0.body["url"] = URL(string: "https://h.example/a")
        }
        let time = "1970-01-01T00:00:00Z"
        #expect(
            body
                == #"{"data":"AQ==","date":"\#(time)","list":["\#(time)"],"object":{"date":"\#(time)","n":1},"#
                + #""url":"https:\/\/h.example\/a"}"#)
    }

    @Test func `names of members stay as written, those of models follow the encoder`() {
        let body = text {
            $0.encoder = Self.snakeCase()
            $0.body["theArticle"] = Article()
            $0.body["theLiteral"] = [
                "innerName": 1, "otherName": "x", "deepOne": ["moreDeep": .null, "article": .value(Article())],
            ]
            $0.body["theObject"] = ["innerName": 1, "innerArticle": [1: Article()].values.map(\.pageTitle)]
        }
        #expect(
            body
                == #"{"theArticle":{"page_title":"t","posted_at":"1970-01-01T00:00:00Z","raw_data":"AQ=="},"#
                + #""theLiteral":{"deepOne":{"article":{"page_title":"t","posted_at":"1970-01-01T00:00:00Z","raw_data":"AQ=="},"#
                + #""moreDeep":null},"innerName":1,"otherName":"x"},"#
                + #""theObject":{"innerArticle":["t"],"innerName":1}}"#)
    }

    @Test func `each configuration has its own encoder`() {
        let preset = URLRequest.Config(host: "https://h.example") {
            $0.method = .post
            $0.body = .json(Article())
        }
        let snake = preset.with { $0.encoder = Self.snakeCase() }
        #expect(URLRequest.with(snake) { _ in }.bodyText?.contains("page_title") == true)
        #expect(URLRequest.with(preset) { _ in }.bodyText?.contains("pageTitle") == true)
    }

    @Test func `the encoder is the one of when the request is built`() {
        let body = text {
            $0.body = .json(Article())
            $0.encoder = Self.snakeCase()
        }
        #expect(body?.contains("page_title") == true)
    }

    @Test func `a model that is encoded at once leaves nil out, too`() throws {
        let request = try URLRequest.with(.init(host: "https://api.example.com")) {
            $0.method = .post
            try $0.encode(["a": nil, "b": 1] as [String: Int?])
        }
        #expect(request.bodyText == #"{"b":1}"#)
    }
}
