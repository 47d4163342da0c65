import Foundation
import Testing
import URLConfig

/// Models and dates in a query: they are encoded when the request is built.
@Suite struct QueryEncodableTests {
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

    private let host = URLRequest.Config(host: "https://h.example")
    private let second = Date(timeIntervalSince1970: 1)

    private func config(_ model: some Encodable & Sendable) -> URLRequest.Config {
        host.with { $0.query = URLRequest.Query(model) }
    }

    private func text(_ config: URLRequest.Config) -> String {
        String(URLRequest.with(config).urlText.dropFirst("https://h.example?".count))
    }

    private func text(_ model: some Encodable & Sendable) -> String { text(config(model)) }

    @Test func `properties are sorted, nil is left out, a bool is no number, an array is a list`() {
        #expect(
            text(Filter())
                == "flag=true&one=1&pageSize=5&tags=x&tags=y&text=a%20b&when=1970-01-01T00%3A00%3A01Z&zero=0")
    }

    @Test func `the configuration's encoder is used, whenever it is set`() {
        let query = text(
            config(Filter()).with {
                $0.encoder.dateEncodingStrategy = .secondsSince1970
                $0.encoder.keyEncodingStrategy = .convertToSnakeCase
            })
        #expect(query == "flag=true&one=1&page_size=5&tags=x&tags=y&text=a%20b&when=1&zero=0")
        #expect(text(Box(v: Data([0xFB, 0xFF]))) == "v=%2B%2F8%3D")
    }

    @Test func `models, dates and items keep their order`() {
        let query = text(
            host.with {
                $0.encoder.keyEncodingStrategy = .convertToSnakeCase
                $0.query["sinceThen"] = second
                $0.query["a"] = 1
                $0.query.append(contentsOf: ["bB": 2])
                $0.query.append(contentsOf: URLRequest.Query(Box(v: second)))
                $0.query.append(contentsOf: Box(v: 3))
                $0.query.append("z", [second, second])
                $0.query["a"] = "x"
            })
        let date = "1970-01-01T00%3A00%3A01Z"
        #expect(query == "sinceThen=\(date)&a=x&bB=2&v=\(date)&v=3&z=\(date)&z=\(date)")
    }

    @Test func `a date is written by the encoder's strategy and read as ISO 8601`() {
        var config = host.with {
            $0.query["since"] = second
            $0.query["list"] = [second, second]
            $0.query.arrayStyle = .brackets
        }
        #expect(config.query["since"] == "1970-01-01T00:00:01Z")
        config.encoder.dateEncodingStrategy = .millisecondsSince1970
        #expect(text(config) == "since=1000&list%5B%5D=1000&list%5B%5D=1000")
        config.encoder.dateEncodingStrategy = .formatted(
            {
                let formatter = DateFormatter()
                formatter.locale = Locale(identifier: "en_US_POSIX")
                formatter.timeZone = TimeZone(secondsFromGMT: 0)
                formatter.dateFormat = "dd.MM.yyyy"
                return formatter
            }())
        config.query["list"] = nil
        #expect(text(config) == "since=01.01.1970")
        config.query["since"] = nil
        #expect(URLRequest.with(config).urlText == "https://h.example")
    }

    @Test func `dates in ISO 8601 leave the encoder and the dates of bodies as they are`() {
        let encoder = JSONEncoder()
        var config = config(Box(v: second))
        config.encoder = encoder
        config.method = .post
        config.bodyModel = [second]
        let request = URLRequest.with(config)
        #expect(request.urlText == "https://h.example?v=1970-01-01T00%3A00%3A01Z")
        #expect(request.bodyText == "[-978307199]")
        guard case .deferredToDate = encoder.dateEncodingStrategy else {
            Issue.record("The encoder changed.")
            return
        }
    }

    @Test func `a form is encoded likewise`() {
        let request = URLRequest.with(host) {
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

    @Test func `numbers keep their digits`() throws {
        #expect(text(Box(v: UInt64.max)) == "v=18446744073709551615")
        #expect(text(Box(v: Int64.min)) == "v=-9223372036854775808")
        #expect(text(Box(v: 9_007_199_254_740_993)) == "v=9007199254740993")
        #expect(text(Box(v: 0.1)) == "v=0.1")
        #expect(text(Box(v: 0.1 + 0.2)) == "v=0.30000000000000004")
        let decimal = try #require(Decimal(string: "1234567890.1234567890123456789"))
        #expect(text(Box(v: decimal)) == "v=1234567890.1234567890123456789")
    }

    @Test(arguments: [1e200, -1.5e300, 1e-200, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 5e20])
    func `a number of any magnitude is written so that it reads back the same`(number: Double) throws {
        let written = try #require(text(Box(v: number)).dropFirst("v=".count).removingPercentEncoding)
        #expect(Double(written) == number)
    }

    @Test func `an element that is nil is left out of its list`() {
        #expect(text(Box(v: [1, nil, 3])) == "v=1&v=3")
        #expect(text(["b": "2", "a": "1"]) == "a=1&b=2")
    }

    @Test func `a nested object is refused by its name`() {
        let error = config(Box(v: Box(v: "s3cret"))).refusal
        #expect(error?.code == .invalidURL)
        #expect(error?.reason.hasPrefix("query cannot be filled from Box<Box<String>>: ") == true)
        #expect(error?.reason.contains("v: only text") == true, "\(error?.reason ?? "")")
        #expect(error?.reason.contains("s3cret") == false)
    }

    @Test func `what is no object of values is refused`() {
        #expect(config(Box(v: [["a"]])).refusal?.code == .invalidURL)
        #expect(config([1, 2]).refusal?.code == .invalidURL)
        #expect(config("text").refusal?.code == .invalidURL)
        #expect(config(Box(v: Double.infinity)).refusal?.code == .invalidURL)
        #expect(host.with { $0.query.append(contentsOf: Box(v: Box(v: 1))) }.refusal?.code == .invalidURL)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300, -1e300])
    func `no date crashes`(seconds: Double) {
        let date = Date(timeIntervalSince1970: seconds)
        #expect(text(host.with { $0.query["d"] = date }).hasPrefix("d="))
        #expect(text(Box(v: date)).hasPrefix("v="))
        #expect(URLRequest.with(host) { $0.path = "/\(date)" }.urlText.hasPrefix("https://h.example/"))
    }
}
