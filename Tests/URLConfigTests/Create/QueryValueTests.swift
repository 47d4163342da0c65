import Foundation
import Testing

@testable import URLConfig

@Suite struct QueryValueTests {
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
        let request = URLRequest.with(.init(host: "https://h.example")) { $0.query["q"] = value }
        #expect(request.urlText == "https://h.example?q=" + expected)
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
            #expect(request.refusal?.code == .invalidURL)
            #expect(request.refusal?.reason.contains("size") == true, "\(request.refusal?.reason ?? request.urlText)")
        }
        let form = URLRequest.with(config) { ($0.method, $0.body, $0.query) = (.post, .form($0.query), [:]) }
        #expect(form.refusal?.code == .invalidRequest)
        #expect(form.refusal?.reason.contains("size") == true, "\(form.refusal?.reason ?? form.urlText)")
        let strategy = JSONEncoder.NonConformingFloatEncodingStrategy.convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "none")
        let allowed = URLRequest.with(config) { $0.encoder.nonConformingFloatEncodingStrategy = strategy }
        #expect(["inf", "-inf", "none"].contains { allowed.urlText.hasSuffix("size=\($0)") }, "\(allowed.urlText)")
        if (value as? [Double])?.count == 2 { #expect(allowed.urlText.hasSuffix("?size=1.0&size=none")) }
    }

    @Test func `an array is a list, nested ones made flat`() {
        let request = URLRequest.with(.init(host: "https://h.example")) {
            $0.query["ids"] = [1, 2]
            $0.query["sort"] = [Sorting.oldest, .newest]
            $0.query["deep"] = [[1, 2], [], [3]]
        }
        #expect(
            request.urlText == "https://h.example?ids=1&ids=2&sort=oldest&sort=newest&deep=1&deep=2&deep=3")
    }

    @Test func `a raw value is sent, whatever the description says`() {
        enum Sorting: String, QueryValue, CustomStringConvertible {
            case newest
            var description: String { "Newest first" }
        }
        let request = URLRequest.with(.init(host: "https://api.example.com")) { $0.query["sort"] = Sorting.newest }
        #expect(request.url?.query() == "sort=newest")
    }
}
