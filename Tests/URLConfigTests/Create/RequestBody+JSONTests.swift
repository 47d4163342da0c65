import Testing
import URLConfig

/// Members of every type, with the strategies of the encoder.
@Suite struct RequestBodyJSONTests {
    private struct Article: Codable, Equatable {
        var pageTitle = "t"
        var postedAt = Date(timeIntervalSince1970: 0)
        var rawData = Data([1])
    }

    private static let (number, price, title, tags, date) = (7, 1.5, "t", ["x", "y"], Date(timeIntervalSince1970: 0))
    private static let (none, some) = (String?.none, Optional("s"))
    private static let (nobody, article) = (Article?.none, Article())
    private static let dictionary = ["a": none, "b": some]
    private static let optional = Optional(dictionary)

    private typealias Change = @Sendable (inout URLRequest.Config) -> Void

    private static func text(_ configure: (inout URLRequest.Config) -> Void) -> String? {
        URLRequest.with(URLRequest.Config(host: "https://h.example") { $0.method = .post }, configure).bodyText
    }

    private static let snakeCase = URLRequest.Config(host: "https://h.example") {
        $0.method = .post
        $0.encoder.keyEncodingStrategy = .convertToSnakeCase
        $0.encoder.dateEncodingStrategy = .iso8601
    }
    private static let encodedArticle = #"{"page_title":"t","posted_at":"1970-01-01T00:00:00Z","raw_data":"AQ=="}"#

    /// A value of a member, and its JSON; `nil` if there is no body.
    private static let members: [(Change, String?)] = [
        ({ $0.body["m"] = "x" }, #""x""#), ({ $0.body["m"] = 1.5 }, "1.5"), ({ $0.body["m"] = true }, "true"),
        ({ $0.body["m"] = number }, "7"), ({ $0.body["m"] = "\(title)\(number)" }, #""t7""#),
        ({ $0.body["m"] = some }, #""s""#), ({ $0.body["m"] = tags }, #"["x","y"]"#),
        // Literals of one type and of several, at every depth
        ({ $0.body["m"] = [1, 2] }, "[1,2]"), ({ $0.body["m"] = ["a": "x"] }, #"{"a":"x"}"#),
        ({ $0.body["m"] = [:] }, "{}"), ({ $0.body["m"] = [] }, "[]"),
        ({ $0.body["m"] = [1, "a", 1.5, true, .null, nil] }, #"[1,"a",1.5,true,null,null]"#),
        (
            { $0.body["m"] = ["a": ["b": [1, ["c": .null]]], "d": [[], [:]]] },
            #"{"a":{"b":[1,{"c":null}]},"d":[[],{}]}"#
        ),
        ({ $0.body["m"] = ["x": 60 * 60, "y": ["z": "b"]] }, #"{"x":3600,"y":{"z":"b"}}"#),
        (
            { $0.body["m"] = [false, 9_223_372_036_854_775_807, 0.5, "\"\\\n\u{E9}\u{1F600}"] },
            "[false,9223372036854775807,0.5,\"\\\"\\\\\\n\u{E9}\u{1F600}\"]"
        ),
        // Variables of several types, at every depth
        ({ $0.body["m"] = ["n": number, "t": title, "d": none] }, #"{"n":7,"t":"t"}"#),
        ({ $0.body["m"] = [number, title] }, #"[7,"t"]"#),
        (
            { $0.body["m"] = [["n": number, "t": title], ["n": 8, "t": .null]] }, #"[{"n":7,"t":"t"},{"n":8,"t":null}]"#
        ),
        (
            { $0.body["m"] = ["b": ["n": number, "t": title], "c": [1, title]] }, #"{"b":{"n":7,"t":"t"},"c":[1,"t"]}"#
        ),
        ({ $0.body["m"] = ["n": number, "tags": ["x", 1]] }, #"{"n":7,"tags":["x",1]}"#),
        ({ $0.body["m"] = ["n": .value(number), "t": title] }, #"{"n":7,"t":"t"}"#),
        ({ $0.body["m"] = ["n": number, "tags": .value(tags), "a": .value(nobody)] }, #"{"n":7,"tags":["x","y"]}"#),
        ({ $0.body["m"] = ["one": tags, "two": tags] }, #"{"one":["x","y"],"two":["x","y"]}"#),
        // A number keeps its type
        ({ $0.body["m"] = ["price": price, "count": 2] }, #"{"count":2,"price":1.5}"#),
        ({ $0.body["m"] = ["price": .init(price), "count": 2] }, #"{"count":2,"price":1.5}"#),
        ({ $0.body["m"] = [["price": .value(price), "count": 2]] }, #"[{"count":2,"price":1.5}]"#),
        ({ $0.body["m"] = ["z": ["a": .init(price), "b": 2]] }, #"{"z":{"a":1.5,"b":2}}"#),
        // Null, and members that are left out
        ({ $0.body["m"] = nil }, nil), ({ $0.body["m"] = none }, nil), ({ $0.body["m"] = nobody }, nil),
        ({ $0.body["m"] = .null }, "null"), ({ $0.body["m"] = none ?? .null }, "null"),
        ({ $0.body["m"] = nobody ?? .null }, "null"), ({ $0.body["m"] = ["a": none ?? .null] }, #"{"a":null}"#),
        ({ $0.body["m"] = number > 0 ? .null : 1 }, "null"), ({ $0.body["m"] = [.null] }, "[null]"),
        ({ $0.body["m"] = number > 0 ? ["a": number, "b": title] : nil }, #"{"a":7,"b":"t"}"#),
        ({ $0.body["m"] = number < 0 ? ["a": number, "b": title] : nil }, nil),
        ({ $0.body["m"] = ["a": none, "b": some, "c": nil] }, #"{"b":"s"}"#),
        ({ $0.body["m"] = ["a": nobody, "b": nobody] }, "{}"), ({ $0.body["m"] = dictionary }, #"{"b":"s"}"#),
        ({ $0.body["m"] = ["x": ["y": ["a": none, "b": some]]] }, #"{"x":{"y":{"b":"s"}}}"#),
        ({ $0.body["m"] = ["x": [["a": none], ["a": some]]] }, #"{"x":[{},{"a":"s"}]}"#),
        ({ $0.body["m"] = [none, some] }, #"[null,"s"]"#),
        ({ $0.body["m"] = [dictionary] }, #"[{"b":"s"}]"#),
        ({ $0.body["m"] = ["theX": ["y": dictionary]] }, #"{"theX":{"y":{"b":"s"}}}"#),
        ({ $0.body["m"] = ["x": optional, "y": nil] }, #"{"x":{"b":"s"}}"#),
        ({ $0.body["m"] = [optional, nil] }, #"[{"b":"s"},null]"#),
    ]

    @Test(arguments: members.indices)
    func `a member is what was written`(index: Int) {
        let (configure, expected) = Self.members[index]
        #expect(Self.text(configure) == expected.map { "{\"m\":\($0)}" })
    }

    private static let bodies: [(Change, String?)] = [
        ({ $0.body = ["n": number, "t": title, "d": none] }, #"{"n":7,"t":"t"}"#),
        ({ $0.body = ["a": 1, "b": ["x": number, "l": .value(tags)]] }, #"{"a":1,"b":{"l":["x","y"],"x":7}}"#),
        ({ $0.body = .json(["a": 1, "b": ["x": number, "y": "z"]]) }, #"{"a":1,"b":{"x":7,"y":"z"}}"#),
        ({ $0.body = .json(["a": none, "b": some]) }, #"{"b":"s"}"#), ({ $0.body = .json(.null) }, "null"),
        ({ $0.body = .json([["a": none, "b": 1], ["c": .null]]) }, #"[{"b":1},{"c":null}]"#),
        ({ $0.body = .json(tags) }, #"["x","y"]"#), ({ $0.body = .json(none) }, nil),
        ({ $0.body = .json(some) }, #""s""#), ({ $0.body = [:] }, "{}"), ({ $0.body = ["a": nil] }, nil),
        ({ $0.body = ["a": -1, "a": 2] }, #"{"a":2}"#), ({ $0.body = .json(dictionary) }, #"{"b":"s"}"#),
        ({ $0.bodyModel = dictionary }, #"{"b":"s"}"#), ({ $0.body = .json([dictionary]) }, #"[{"b":"s"}]"#),
        ({ $0.body = .json(["x": dictionary]) }, #"{"x":{"b":"s"}}"#),
    ]

    @Test(arguments: bodies.indices)
    func `a whole body is what was written`(index: Int) {
        let (configure, expected) = Self.bodies[index]
        #expect(Self.text(configure) == expected)
    }

    @Test func `strategies of the encoder apply to values and models, not to names that are written`() {
        let request = URLRequest.with(Self.snakeCase) {
            $0.body["date"] = Self.date
            $0.body["dates"] = [Self.date]
            $0.body["rawData"] = Data([1])
            $0.body["theURL"] = URL(string: "https://h.example/a")
            $0.body["theArticle"] = Self.article
            $0.body["theLiteral"] = ["innerName": 1, "at": Self.date, "deepOne": ["article": .value(Self.article)]]
        }
        let time = #""1970-01-01T00:00:00Z""#
        #expect(
            request.bodyText?.replacing("\\/", with: "/")
                == #"{"date":\#(time),"dates":[\#(time)],"rawData":"AQ==","theArticle":\#(Self.encodedArticle),"#
                + #""theLiteral":{"at":\#(time),"deepOne":{"article":\#(Self.encodedArticle)},"innerName":1},"#
                + #""theURL":"https://h.example/a"}"#)
    }

    @Test func `members can be read`() {
        var body: RequestBody = ["a": 1, "b": .null]
        body["article"] = Self.article
        #expect(body["a"] as? Int == 1)
        #expect(body["article"] as (any Encodable & Sendable)? as? Article == Self.article)
        #expect((body["none"] as (any RequestBody.JSON & Sendable)?) == nil)
        body["a"] = nil
        #expect((body["a"] as (any RequestBody.JSON & Sendable)?) == nil)
    }
}
