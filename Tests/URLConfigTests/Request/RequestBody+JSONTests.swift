import Foundation
import Testing
import URLConfig

/// Members of every shape, and what the encoder's strategies do to them.
@Suite struct RequestBodyJSONTests {
    private func text(_ configure: (inout URLRequest.Config) -> Void) -> String? {
        let config = URLRequest.Config(host: "https://h.example") { $0.method = .post }
        return URLRequest.with(config, configure).bodyText
    }

    @Test func `a literal may mix types and nest`() {
        #expect(text { $0.body["m"] = [1, "a", 1.5, true, nil] } == #"{"m":[1,"a",1.5,true,null]}"#)
        #expect(text { $0.body["m"] = ["a": 1, "b": "x", "c": nil] } == #"{"m":{"a":1,"b":"x","c":null}}"#)
        #expect(
            text { $0.body["m"] = ["a": ["b": [1, ["c": nil]]], "d": [[], [:]]] }
                == #"{"m":{"a":{"b":[1,{"c":null}]},"d":[[],{}]}}"#)
        #expect(text { $0.body["m"] = ["a": -1, "a": 2] as RequestBody.JSON } == #"{"m":{"a":2}}"#)
    }

    @Test func `a literal may hold variables of several types`() {
        let (number, title, none) = (7, "t", Int?.none)
        #expect(
            text { $0.body["m"] = ["number": number, "title": title, "none": none] }
                == #"{"m":{"none":null,"number":7,"title":"t"}}"#)
        #expect(text { $0.body["m"] = ["t": "\(title)\(number)", "n": 1] } == #"{"m":{"n":1,"t":"t7"}}"#)
    }

    @Test func `literals of one type are arrays and dictionaries as ever`() {
        #expect(text { $0.body["m"] = [1, 2] } == #"{"m":[1,2]}"#)
        #expect(text { $0.body["m"] = ["a": "x"] } == #"{"m":{"a":"x"}}"#)
        #expect(text { $0.body["m"] = "x" } == #"{"m":"x"}"#)
        #expect(text { $0.body["m"] = 1.5 } == #"{"m":1.5}"#)
        #expect(text { $0.body["m"] = true } == #"{"m":true}"#)
    }

    @Test func `each case of JSON encodes as itself`() {
        let json: RequestBody.JSON = .object([
            "a": .array([.null, .bool(false), .integer(.max), .number(0.5), .string("\"\\\n\u{E9}\u{1F600}")])
        ])
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
            $0.body["theLiteral"] = ["innerName": 1, "otherName": "x", "deepOne": ["moreDeep": nil]]
            $0.body["theObject"] = ["innerName": 1, "innerArticle": [1: Article()].values.map(\.pageTitle)]
        }
        #expect(
            body
                == #"{"theArticle":{"page_title":"t","posted_at":"1970-01-01T00:00:00Z","raw_data":"AQ=="},"#
                + #""theLiteral":{"deepOne":{"moreDeep":null},"innerName":1,"otherName":"x"},"#
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
}
