import Foundation
import Testing
import URLConfig

/// A model as query items.
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

    private struct Box<Value: Encodable>: Encodable { var v: Value }

    private func config(_ model: some Encodable, _ encoder: JSONEncoder = JSONEncoder()) -> URLRequest.Config {
        .init(host: "https://h.example") { $0.query = URLRequest.Query(model, encoder: encoder) }
    }

    private func text(_ model: some Encodable, _ encoder: JSONEncoder = JSONEncoder()) -> String {
        String(URLRequest.with(config(model, encoder)) { _ in }.urlText.dropFirst("https://h.example?".count))
    }

    @Test func `properties are sorted, nil is left out, a bool is no number, an array is a list`() {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        #expect(
            text(Filter(), encoder)
                == "flag=true&one=1&pageSize=5&tags=x&tags=y&text=a%20b&when=1970-01-01T00%3A00%3A01Z&zero=0")
    }

    @Test func `the encoder's strategies hold`() {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .secondsSince1970
        encoder.keyEncodingStrategy = .convertToSnakeCase
        #expect(text(Filter(), encoder).contains("page_size=5"))
        #expect(text(Filter(), encoder).contains("when=1&"))
        #expect(text(Box(v: Data([0xFB, 0xFF]))) == "v=%2B%2F8%3D")
    }

    @Test func `the default encoder is taken where none is named`() {
        #expect(URLRequest.Query(Box(v: 1)) == ["v": "1"])
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
        #expect(error?.reason.hasPrefix("query ") == true)
        #expect(error?.reason.contains("v: only text") == true, "\(error?.reason ?? "")")
        #expect(error?.reason.contains("s3cret") == false)
    }

    @Test func `what is no object of values is refused`() {
        #expect(config(Box(v: [["a"]])).refusal?.code == .invalidURL)
        #expect(config([1, 2]).refusal?.code == .invalidURL)
        #expect(config("text").refusal?.code == .invalidURL)
        #expect(config(Box(v: Double.infinity)).refusal?.code == .invalidURL)
    }

    @Test func `a refused model stays refused where it is appended`() {
        let config = URLRequest.Config(host: "https://h.example") {
            $0.query.append(contentsOf: URLRequest.Query(Box(v: Box(v: 1))))
        }
        #expect(config.refusal?.code == .invalidURL)
    }
}
