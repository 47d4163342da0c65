import Testing

@testable import URLConfig

/// Errors explain why the content could not be decoded.
@Suite struct DecodingDiagnosisTests {
    struct User: Decodable {
        enum Role: String, Decodable { case admin }
        var id: Int
        var email: String
        var viewCount: Int?
        var role: Role?
        var password: [String: Int]?
    }
    struct Page: Decodable { var users: [User] }

    static func text<Model: Decodable>(
        _ model: Model.Type, _ content: some Sequence<UInt8>, _ type: String? = "application/json",
        status: HTTPResponse.Status = .ok, decoder: any ResponseDecoder = JSONDecoder()
    ) -> String {
        do {
            _ = try DataResponseTests.response(content, contentType: type, status: status).decode(Model.self) {
                $0.decoder = decoder
            }
            return "no error"
        } catch {
            let start = "decoding: GET https://api.example.com/users?token=*** (\(status.code)): cannot read "
            #expect("\(error)".hasPrefix(start))
            return "\(error)".replacing(start, with: "")
        }
    }

    @Test(arguments: [
        (
            #"{"users":[{"id":1,"email":"a"},{"id":4,"email":null,"name":"Ada","password":"s3cret","a":{},"b":[1]}]}"#,
            """
            users[1].email is null, expected String
              users[1] {
                "id" : 4,
                "email" : null,  ← here
                "name" : "Ada",
                "password" : "***",
                …
              }
            """
        ),
        (
            #"{"users":[{"id":1,"name":"a","o":{"x":1},"l":[ ]}]}"#,
            """
            users[0].email is missing
              users[0] {  ← no "email" here
                "id" : 1,
                "name" : "a",
                "o" : {…},
                "l" : []
              }
            """
        ),
        (
            #"{"users":[{"id":1,"e_mail":"a"}]}"#,
            """
            users[0].email is missing
              users[0] {
                "id" : 1,
                "e_mail" : "a"  ← not "email"
              }
            """
        ),
        (
            #"{"users":[{}]}"#,
            """
            users[0].id is missing
              users[0] {}  ← no "id" here
            """
        ),
        (
            #"{"count":1,"users":{"a":1,"b":2}}"#,
            """
            users is an object, expected an array
              users {  ← here
                "a" : 1,
                "b" : 2
              }
            """
        ),
        (
            #"{"users":[1,2,3,4,5,6,7,"x",9,10,11,12]}"#,
            """
            users[0] is a number, expected an object
              users [
                1,  ← here
                2,
                3,
                …
              ]
            """
        ),
        (
            #"["x"]"#,
            """
            the top level is an array, expected an object
              [  ← here
                "x"
              ]
            """
        ),
        (
            #""twelve""#,
            """
            the top level is a string, expected an object
              "twelve"  ← here
            """
        ),
        (
            #"{"users":[{"id":1,"email":"a","role":"king"}]}"#,
            """
            users[0].role: Cannot initialize Role from invalid String value king
              users[0] {
                "id" : 1,
                "email" : "a",
                "role" : "king"  ← here
              }
            """
        ),
        (
            #"{"users":[{"id":1,"email":"a","password":{"k3y":"s3cret"}}]}"#,
            """
            users[0].password.*** is a string, expected Int
              users[0] {
                "id" : 1,
                "email" : "a",
                "password" : "***"  ← here
              }
            """
        ),
    ])
    func `it names the place and shows the JSON around it`(json: String, expected: String) {
        #expect(Self.text(Page.self, json.utf8) == "Page from \(json.utf8.count) B of application/json: " + expected)
    }

    @Test(arguments: [
        (
            #"{"users":[{"id":1,"email":"a"},{"id":2,"email":"ann@exa"#,
            """
            the JSON is cut off in users[1].email, after 55 bytes
              users[1] {
                "id" : 2,
                "email" : "ann@exa  ← cut off here
            """
        ),
        (
            #"{"users":[{"id":1,"password":{"a":"s3cret"#,
            """
            the JSON is cut off in users[0].password.***, after 41 bytes
              users[0] {
                "id" : 1,
                "password" : "***"  ← cut off here
            """
        ),
        (
            "{\n  \"users\": [\n    {\"id\":1 \"email\":\"a\"}]}",
            """
            it is not valid JSON: expected "," or "}", found a quote at line 3, column 13 in users[0].id
              users[0] {
                "id" : 1  ← expected "," or "}", found a quote
            """
        ),
        (
            "{'users':[]}",
            """
            it is not valid JSON: expected a name in quotes, found a single quote at byte 1
              {  ← expected a name in quotes, found a single quote
            """
        ),
        // A string without a colon may be a value.
        (
            #"{"users":[{"id":1,"tokens":"a1b2c3d4e5f6","f6e5d4c3b2a1"]}"#,
            """
            it is not valid JSON: expected ":", found "]" at byte 56 in users[0]
              users[0] {
                "id" : 1,
                "tokens" : "***"  ← expected ":", found "]"
            """
        ),
        (
            #"{"user":"bob","hunter2secret"}"#,
            """
            it is not valid JSON: expected ":", found "}" at byte 29
              {
                "user" : "bob"  ← expected ":", found "}"
            """
        ),
        (
            #"{"hunter2secret", "a":1}"#,
            """
            it is not valid JSON: expected ":", found "," at byte 16
              {  ← expected ":", found ","
            """
        ),
        (
            #"{"user":"bob","email""#,
            """
            the JSON is cut off in email, after 21 bytes
              {
                "user" : "bob",
                "email"  ← cut off here
            """
        ),
        (
            "{\"users\":[]}\n{\"users\":[]}",
            "it is not valid JSON: unexpected data after the JSON value at line 2, column 1"
        ),
        (
            #"{"users":[{"id":1,"email":"a"},{"id":2.5,"email":"b"}]}"#,
            """
            it is valid JSON, but a number does not fit its type, and the decoder does not say which; \
            the first that is not an integer is users[1].id
              users[1] {
                "id" : 2.5  ← not an integer
            """
        ),
        ("", "the content is empty"), (" \r\n", "the content is empty"),
        (
            "<!DOCTYPE html>\n<HTML><head><title>502 Bad\u{1B} Gateway</title>",
            #"it is an HTML page titled “502 Bad\u{1b} Gateway”, not JSON"#
        ),
        ("<?xml version=\"1.0\"?><a/>", "it is XML, not JSON"),
        ("upstream error, token=s3cret {\"a\":1", "it is text, not JSON\n  upstream error, token=*** …"),
        ("\u{1F}\u{0}\u{1}", "it is binary, not JSON"),
    ])
    func `it says in words what is no JSON`(content: String, expected: String) {
        let size = content.utf8.count
        #expect(Self.text(Page.self, content.utf8) == "Page from \(size) B of application/json: " + expected)
    }

    private struct Item: Decodable {
        enum Kind: String, Decodable { case a }
        var age: Int
        var name: String?
        var kind: Kind?
        var site: URL?
        var price: Decimal?
        var token: Kind?
    }

    @Test(arguments: [
        (#"{"age":true}"#, "age is a boolean, expected Int"), (#"{"age":[]}"#, "age is an array, expected Int"),
        (#"{"age":1,"name":2}"#, "name is a number, expected String"),
        (#"{"age":1,"kind":"x"}"#, "kind: Cannot initialize Kind from invalid String value x"),
        (#"{"age":1,"site":""}"#, "site: Invalid URL string."), (#"{"age":1,"price":"1"}"#, "price is not Decimal"),
        (#"{"age":1,"token":"s3cret"}"#, "token: its value does not fit"),
        ("null", "the top level is null, expected an object"),
    ])
    func `it says what was expected and what was found`(json: String, expected: String) {
        let lines = Self.text(Item.self, json.utf8).split(separator: "\n")
        #expect(lines.first == "Item from \(json.utf8.count) B of application/json: \(expected)")
    }

    private struct Pair: Decodable {
        init(from decoder: any Decoder) throws {
            var array = try decoder.unkeyedContainer()
            _ = (try array.decode(Int.self), try array.decode(Int.self))
        }
    }

    @Test(arguments: [
        ("[1]", "[1] is missing: the array ends before it|  [|    1  ← it ends here"),
        (#"[0,1,2,3,4,"x",6,7,8]"#, "[|  …|  1,|  2,|  3,|  4,|  \"x\",  ← here|  6,|  7,|  …|]"),
        (
            #"{"tok\u0065n":"s","b":"{\"token\":\"s3cret\"}"}"#,
            #"{  ← here|  "tok\u0065n" : "***",|  "b" : "{\"token\":\"***\"}"|}"#
        ),
    ])
    func `the lines show a few neighbours and no secrets`(json: String, expected: String) {
        let pair = Self.text(Pair.self, json.utf8).replacing("\n", with: "|")
        let list = Self.text([Int].self, json.utf8).replacing("\n", with: "|").replacing("|  ", with: "|")
        #expect(pair.contains(expected) || list.hasSuffix(expected), "\(pair)\n\(list)")
    }

    private struct Named: Decodable {
        struct Card: Decodable { var number: Day? }
        enum Day: String, Decodable { case monday }
        var name: String
        var value: Day?
        var card: Card?
        var count: Int?
    }

    @Test(arguments: [
        #"{"name":"password","value":"s3cret-one","count":"x"}"#, #"{"value":"s3cret-one","name":"password"}"#,
        #"{"name":"a","value":"monday","card":{"number":"s3cret-one"}}"#,
        #"{"name":"a","count":"x","other":[{"value":["s3cret-one"],"key":"token"}],"ghp_s3cret0123456789":1}"#,
    ])
    func `values are hidden as in the log, whatever hides them`(json: String) {
        let text = Self.text(Named.self, json.utf8)
        #expect(text.contains("value: its") || text.contains("number: its") || text.contains("count is a string"))
        #expect(!text.contains("s3cret"), "\(text)")
        let names = Self.text([String: [String: Int]].self, #"{"ghp_s3cret0123456789":{"a":"x"}}"#.utf8)
        #expect(names.contains("***.a is a string") && !names.contains("s3cret"), "\(names)")
    }

    @Test func `a number that is a name under a hidden name is hidden`() {
        struct User: Decodable { var name: String }
        let text = Self.text([String: [Int: User]].self, #"{"otp":{"123456":{"name":5}}}"#.utf8)
        #expect(text.contains("otp.***.name is a number, expected String") && !text.contains("123456"), "\(text)")
    }

    @Test func `values that something after them hides are hidden in broken JSON, and where the search ends`() {
        let broken = Self.text(Named.self, #"{"value":"s3cret-one","n":nul,"name":"password"}"#.utf8)
        #expect(broken.contains("not valid JSON") && !broken.contains("s3cret"), "\(broken)")
        let pair = #"{"name":"password","value":"s3cret-one"}"#
        let long = "[" + String(repeating: #"{"name":"a","value":"monday"},"#, count: 20_000) + pair + "]"
        let text = Self.text([Named].self, long.utf8)
        #expect(text.contains("[20000].value") && !text.contains("s3cret"), "\(text)")
    }

    @Test func `a quotation of a decoder is cut`() {
        let value = String(repeating: "x\n", count: 100_000)
        let context = DecodingError.Context(codingPath: [], debugDescription: value)
        #expect(DecodingError.dataCorrupted(context).summary(.standard).utf8.count < 350)
    }

    @Test func `it says that the character set is wrong`() {
        let content = Data(#"["caf"#.utf8) + [0xE9] + Data(#""]"#.utf8)
        let text = Self.text([String].self, content, "application/json; charset=iso-8859-1")
        #expect(text.contains("a byte that is not UTF-8 at byte 5 in [0]"))
        #expect(text.contains("the content type says iso-8859-1, but JSON is UTF-8"))
        #expect(!Self.text([String].self, content).contains("says"))
    }

    @Test func `it shows the message of an error response`() {
        let json = #"{"error":{"code":7,"message":"The token has expired"}}"#
        let text = Self.text(Page.self, json.utf8, status: .unauthorized)
        #expect(text.contains("users is missing; the response looks like an error instead: “The token has expired”\n"))
    }

    @Test func `a decoder may convert names`() {
        let snake = JSONDecoder()
        snake.keyDecodingStrategy = .convertFromSnakeCase
        let text = Self.text(Page.self, #"{"users":[{"id":1,"email":"a","view_count":"many"}]}"#.utf8, decoder: snake)
        #expect(text.contains("users[0].viewCount is a string, expected Int"))
        #expect(text.contains("\"view_count\" : \"many\"  ← here"))
    }

    @Test(arguments: [
        (#"{a: 1, b: }"#, #""a": 1, "b": "#, "The given data was not valid JSON."),
        (#"{/**/ a: 1, b: "x"}"#, #""a": 1, "b": "x""#, "b is a string, expected Int"),
        (#"{"a": 1, "b": "x"}"#, #"{"a": 1, "b": "x"}"#, "b is a string, expected Int\n  {\n    \"a\" : 1,"),
    ])
    func `a decoder may read more than JSON`(json5: String, members: String, expected: String) throws {
        let (ofJSON5, ofMembers) = (JSONDecoder(), JSONDecoder())
        ofJSON5.allowsJSON5 = true
        ofMembers.assumesTopLevelDictionary = true
        let hasLines = expected.contains("\n")
        for (content, decoder) in [(json5, ofJSON5), (members, ofMembers)] {
            let text = Self.text([String: Int].self, content.utf8, decoder: decoder)
            #expect(hasLines ? text.contains(expected) : text.hasSuffix(" of application/json: " + expected), "\(text)")
        }
    }

    @Test func `other decoders are not spoken of as JSON`() throws {
        let list = try PropertyListEncoder().encode(["id": "x"])
        for (content, expected) in [
            (list, "id is a string, expected Int"),
            (Data("<?xml version=\"1.0\"?><plist><di".utf8), "The given data was not a valid property list."),
        ] {
            let text = Self.text(User.self, content, "application/x-plist", decoder: PropertyListDecoder())
            #expect(text == "User from \(content.count) B of application/x-plist: " + expected)
        }
        struct Own: ResponseDecoder {
            struct Failure: LocalizedError { var errorDescription: String? { "line 3: no end tag" } }
            func decode<Model: Decodable>(_ type: Model.Type, from data: Data) throws -> Model { throw Failure() }
        }
        let text = Self.text(User.self, "<a><b>s3cret".utf8, "application/xml", decoder: Own())
        #expect(text == "User from 12 B of application/xml: line 3: no end tag")
        let page = Self.text(User.self, "<html><title>Log in</title>".utf8, "text/html", decoder: Own())
        #expect(page == "User from 27 B of text/html: it is an HTML page titled “Log in”")
    }

    @Test func `the reason is one sentence, and may be replaced`() throws {
        var error = try #require(throws: RequestError.self) {
            try DataResponseTests.response("{}".utf8, contentType: "application/json").decode(Page.self)
        }
        #expect(error.reason == "cannot read Page from 2 B of application/json: users is missing")
        error.reason = "closed"
        #expect("\(error)".hasSuffix("(200): closed"))
        error.response = nil
        #expect("\(error)".hasSuffix("users?token=***: closed"))
    }
}
