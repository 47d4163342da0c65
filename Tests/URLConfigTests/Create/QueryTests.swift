import Testing

@testable import URLConfig

/// Query items: their order and how they are written (RFC 3986 §2.3, §3.4).
@Suite struct QueryTests {
    private static let host = URLRequest.Config(host: "https://h.example")

    private func text(_ config: URLRequest.Config) -> String {
        String(URLRequest.with(config).urlText.dropFirst("https://h.example?".count))
    }

    private func text(_ configure: (inout URLRequest.Query) -> Void) -> String {
        text(Self.host.with { configure(&$0.query) })
    }

    @Test func `items keep their order; setting a name replaces all with that name, at the place of the first`() {
        let none: Int? = nil
        let query = text {
            $0 = ["a": 1, "b": 2, "a": 3, "c": 4, "a": 5, "d": none]
            $0["A"] = 3
            $0["a"] = "x"
            $0.append("b", 4)
            $0["e"] = 5
            $0["e"] = nil
            $0["c"] = none
            $0["absent"] = nil
            $0.append(contentsOf: ["f": ["x", "y"], "a": 2, "f": 3])
        }
        #expect(query == "a=x&b=2&A=3&b=4&f=x&f=y&a=2&f=3")
        let read: URLRequest.Query = ["a": 1, "a": 2, "list": ["x", "y"], "none": [Int]()]
        let values = [read["a"] as String?, read["list"], read["none"], read["absent"]]
        #expect(values == ["1", "x", nil, nil])
    }

    @Test(arguments: [
        ("a b", "a%20b"), ("a+b", "a%2Bb"), ("a&b=c", "a%26b%3Dc"), ("a#b?c/d", "a%23b%3Fc%2Fd"), ("100%", "100%25"),
        ("%41", "%2541"), ("\u{E9}", "%C3%A9"), ("e\u{301}", "e%CC%81"), ("\u{1F600}", "%F0%9F%98%80"), ("", ""),
        ("-._~", "-._~"), ("!$'()*,;:@[]", "%21%24%27%28%29%2A%2C%3B%3A%40%5B%5D"), ("\u{0}\r\n", "%00%0D%0A"),
        ("\"<>\\^`{|}", "%22%3C%3E%5C%5E%60%7B%7C%7D"),
    ])
    func `names and values are encoded, except for unreserved characters`(plain: String, encoded: String) {
        #expect(text { $0["q"] = plain } == "q=" + encoded)
        #expect(text { $0[plain] = "v" } == encoded + "=v")
        #expect(text { $0[plain] = [plain, plain] } == "\(encoded)=\(encoded)&\(encoded)=\(encoded)")
    }

    @Test func `each other byte is a percent sign and two upper-case digits`() {
        let unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
        for byte in UInt8(0)..<128 {
            let (plain, hex) = (String(Unicode.Scalar(byte)), String(0x100 + Int(byte), radix: 16, uppercase: true))
            let expected = unreserved.contains(plain) ? plain : "%" + hex.dropFirst()
            #expect(text { $0["q"] = plain } == "q=" + expected)
            if plain != "." { #expect(("/\(plain)" as URLRequest.Path).description == "/" + expected) }
        }
    }

    @Test(
        arguments: [
            (.repeatedKey, "a=0&i%20d=1&i%20d=2%2C3&z=9"), (.brackets, "a=0&i%20d%5B%5D=1&i%20d%5B%5D=2%2C3&z%5B%5D=9"),
            (.comma, "a=0&i%20d=1,2%2C3&z=9"),
        ] as [(URLRequest.Query.ArrayStyle, String)])
    func `a list is written in the style that is set, and an empty one not at all`(
        style: URLRequest.Query.ArrayStyle, expected: String
    ) {
        let query = text {
            $0 = ["first": [String](), "a": 0, "i d": ["1", "2,3"], "ids": [Int](), "z": [9], "last": [Int]()]
            $0.arrayStyle = style
        }
        #expect(query == expected)
    }

    // Values of all types.

    private enum Sorting: String, QueryValue { case newest, oldest }
    private enum Level: Int, QueryValue { case high = 3 }
    private struct Day: RawRepresentable, QueryValue { var rawValue: Date }
    private struct Ratio: RawRepresentable, QueryValue { var rawValue: Double }
    private struct Point: QueryValue, CustomStringConvertible { var description: String { "1:2" } }

    private static let values: [(any QueryValue, String)] = [
        ("x", "x"), ("xyz".dropFirst(), "yz"), (true, "true"), (false, "false"), (-7, "-7"),
        (UInt64.max, "18446744073709551615"),
        (Int8.min, "-128"), (UInt8.max, "255"), (Int64.min, "-9223372036854775808"), (1.5, "1.5"), (Float(0.1), "0.1"),
        (Decimal(string: "1234567890.1234567890123456789") ?? 0, "1234567890.1234567890123456789"),
        (UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)), "00010203-0405-0607-0809-0A0B0C0D0E0F"),
        (URL(string: "https://h.example/?a=b") ?? URL(fileURLWithPath: "/"), "https%3A%2F%2Fh.example%2F%3Fa%3Db"),
        (Sorting.newest, "newest"), (Level.high, "3"), (Point(), "1%3A2"),
        (Day(rawValue: Date(timeIntervalSince1970: 1)), "1970-01-01T00%3A00%3A01Z"),
    ]

    @Test(arguments: values.indices)
    func `a value of any type is written as its text`(index: Int) {
        let (value, expected) = Self.values[index]
        #expect(text { $0["q"] = value } == "q=" + expected)
    }

    private static let infinite: [any QueryValue] = [
        Double.nan, Double.infinity, -Double.infinity, Float.nan, Float.infinity, Decimal.nan, [1, Double.nan],
        [[Float.infinity], []], Ratio(rawValue: .nan), [Ratio(rawValue: .infinity)],
    ]

    @Test(arguments: infinite.indices)
    func `a number that is not finite is refused by its name, as in JSON`(index: Int) {
        let value = Self.infinite[index]
        let config = URLRequest.Config(host: "https://h.example").with { $0.query["size"] = value }
        for request in [
            config, config.with { $0.query = ["size": value] }, config.with { $0.query.append("size", value) },
        ].map({ URLRequest.with($0) }) {
            #expect(request.refusal.says(.invalidURL, "size"))
        }
        let form = URLRequest.with(config) { ($0.method, $0.body, $0.query) = (.post, .form($0.query), [:]) }
        #expect(form.refusal.says(.invalidRequest, "size"))
        let strategy = JSONEncoder.NonConformingFloatEncodingStrategy.convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "none")
        let allowed = URLRequest.with(config) { $0.encoder.nonConformingFloatEncodingStrategy = strategy }
        #expect(["inf", "-inf", "none"].contains { allowed.urlText.hasSuffix("size=\($0)") }, "\(allowed.urlText)")
        if (value as? [Double])?.count == 2 { #expect(allowed.urlText.hasSuffix("?size=1.0&size=none")) }
    }

    @Test func `an array is a list, arrays in it are flattened, and a raw value is sent, not the description`() {
        enum Order: String, QueryValue, CustomStringConvertible {
            case newest
            var description: String { "Newest first" }
        }
        let query = text { $0 = ["ids": [1, 2], "sort": [Order.newest], "deep": [[1, 2], [], [3]]] }
        #expect(query == "ids=1&ids=2&sort=newest&deep=1&deep=2&deep=3")
    }

    // Models and dates are encoded when the request is built.

    private struct Filter: Encodable {
        var text = "a b"
        var flag = true
        var one = 1
        var zero = 0
        var gone: String?
        var tags = ["x", "y"]
        var none: [Int] = []
        var when = Date(timeIntervalSince1970: 1)
        var pageSize = 5
    }

    private struct Box<Value: Encodable & Sendable>: Encodable { var v: Value }

    private let second = Date(timeIntervalSince1970: 1)

    private func config(_ model: some Encodable & Sendable) -> URLRequest.Config {
        Self.host.with { $0.query.append(contentsOf: model) }
    }

    private func text(_ model: some Encodable & Sendable) -> String { text(config(model)) }

    @Test func `properties are sorted and encoded by the request's encoder, nil is left out, a bool is no number`() {
        #expect(
            text(Filter())
                == "flag=true&one=1&pageSize=5&tags=x&tags=y&text=a%20b&when=1970-01-01T00%3A00%3A01Z&zero=0")
        let query = text(
            config(Filter()).with {
                $0.encoder.dateEncodingStrategy = .secondsSince1970
                $0.encoder.keyEncodingStrategy = .convertToSnakeCase
            })
        #expect(query == "flag=true&one=1&page_size=5&tags=x&tags=y&text=a%20b&when=1&zero=0")
        #expect(text(Box(v: Data([0xFB, 0xFF]))) == "v=%2B%2F8%3D")
        #expect(text(Box(v: [1, nil, 3])) == "v=1&v=3")
        #expect(text(["b": "2", "a": "1"]) == "a=1&b=2")
    }

    @Test func `models, dates and items keep their order`() {
        let query = text(
            Self.host.with {
                $0.encoder.keyEncodingStrategy = .convertToSnakeCase
                $0.query["sinceThen"] = second
                $0.query["a"] = 1
                $0.query.append(contentsOf: ["bB": 2])
                $0.query.append(contentsOf: Box(v: second))
                $0.query.append(contentsOf: Box(v: 3))
                $0.query.append("z", [second, second])
                $0.query["a"] = "x"
            })
        let date = "1970-01-01T00%3A00%3A01Z"
        #expect(query == "sinceThen=\(date)&a=x&bB=2&v=\(date)&v=3&z=\(date)&z=\(date)")
    }

    @Test func `a date is written by the encoder's strategy and read as ISO 8601`() {
        var config = Self.host.with {
            $0.query["since"] = second
            $0.query["list"] = [second, second]
            $0.query.arrayStyle = .brackets
        }
        #expect(config.query["since"] == "1970-01-01T00:00:01Z")
        config.encoder.dateEncodingStrategy = .millisecondsSince1970
        #expect(text(config) == "since=1000&list%5B%5D=1000&list%5B%5D=1000")
        config.encoder.dateEncodingStrategy = .custom { date, encoder in
            var value = encoder.singleValueContainer()
            try value.encode("\(date.timeIntervalSince1970) s")
        }
        config.query["list"] = nil
        #expect(text(config) == "since=1.0%20s")
        config.query["since"] = nil
        #expect(URLRequest.with(config).urlText == "https://h.example")
    }

    @Test func `dates in ISO 8601 leave the encoder and the dates of bodies as they are`() throws {
        let encoder = JSONEncoder()
        var config = config(Box(v: second))
        config.encoder = encoder
        config.method = .post
        config.bodyModel = [second]
        let request = URLRequest.with(config)
        #expect(request.urlText == "https://h.example?v=1970-01-01T00%3A00%3A01Z")
        #expect(request.bodyText == "[-978307199]")
        #expect(try encoder.encode([second]) == Data("[-978307199]".utf8), "the encoder changed")
    }

    @Test func `a key and a code are hidden where a query is shown, as in a URL`() {
        let config = URLRequest.Config(host: "https://h.example") {
            ($0.query["key"], $0.query["code"], $0.query["page"]) = ("s3cret-key", "s3cret-code", 2)
        }
        var dumped = ""
        dump(config.query, to: &dumped)
        dump(config, to: &dumped)
        #expect(!dumped.contains("s3cret"))
        #expect(dumped.contains("2"))
    }

    @Test func `a form is encoded in the same way`() {
        let request = URLRequest.with(Self.host) {
            $0.method = .post
            $0.encoder.keyEncodingStrategy = .convertToSnakeCase
            var form: URLRequest.Query = ["grant_type": "a b", "at": second]
            form.append(contentsOf: Filter())
            $0.body = .form(form)
        }
        let date = "1970-01-01T00%3A00%3A01Z"
        #expect(
            request.bodyText
                == "grant_type=a+b&at=\(date)&flag=true&one=1&page_size=5&tags=x&tags=y&text=a+b&when=\(date)&zero=0")
    }

    @Test(
        arguments: [
            (UInt64.max, "18446744073709551615"), (Int64.min, "-9223372036854775808"),
            (9_007_199_254_740_993, "9007199254740993"), (0.1, "0.1"), (0.1 + 0.2, "0.30000000000000004"),
            (Decimal(string: "1234567890.1234567890123456789") ?? 0, "1234567890.1234567890123456789"),
            (1e200, nil), (-1.5e300, nil), (1e-200, nil), (Double.leastNonzeroMagnitude, nil),
            (Double.greatestFiniteMagnitude, nil), (5e20, nil),
        ] as [(any Encodable & Sendable, String?)])
    func `numbers keep their digits, or read back as the same number`(
        number: any Encodable & Sendable, digits: String?
    ) throws {
        let written = try #require(text(["v": Model(value: number)]).dropFirst("v=".count).removingPercentEncoding)
        if let digits { #expect(written == digits) } else { #expect(Double(written) == number as? Double) }
    }

    private struct Model: Encodable {
        let value: any Encodable & Sendable

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
    }

    @Test func `a nested object is refused by its name, and so is anything but an object of values`() {
        let error = config(Box(v: Box(v: "s3cret"))).refusal
        #expect(error?.code == .invalidURL)
        #expect(error?.reason.hasPrefix("query cannot be filled from Box<Box<String>>: ") == true)
        #expect(error?.reason.contains("v: only text") == true, "\(error?.reason ?? "")")
        #expect(error?.reason.contains("s3cret") == false)
        #expect(config(Box(v: [["a"]])).refusal?.code == .invalidURL)
        #expect(config([1, 2]).refusal?.code == .invalidURL)
        #expect(config("text").refusal?.code == .invalidURL)
        #expect(config(Box(v: Double.infinity)).refusal?.code == .invalidURL)
        #expect(Self.host.with { $0.query.append(contentsOf: Box(v: Box(v: 1))) }.refusal?.code == .invalidURL)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300, -1e300])
    func `a date that has no text is refused`(seconds: Double) {
        let date = Date(timeIntervalSince1970: seconds)
        for config in [Self.host.with { $0.query["d"] = date }, config(Box(v: date))] {
            #expect(config.refusal?.reason.contains("a date must be in the years 1 to 9999") == true)
        }
        #expect(Self.host.with { $0.path = "/\(date)" }.refusal?.reason.contains("in the years 1 to 9999") == true)
    }
}
