import Testing
import URLConfigTesting

@testable import URLConfig

/// Dates (RFC 9110 §5.6.7), and dates of cookies (RFC 6265 §5.1.1).
@Suite(.inTime) struct DateTests {
    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Sun Nov 16 08:49:37 1994", 784_975_777),
            ("Sun, 06-Nov-1994 08:49:37 GMT", 784_111_777), ("Sun, 6 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199),
            ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
            ("Thursday, 01-Jan-69 00:00:00 GMT", 3_124_224_000), ("Thursday, 01-Jan-70 00:00:00 GMT", 0),
            ("Friday, 01-Jan-00 00:00:00 GMT", 946_684_800), ("06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Sun, 06 nov 1994 08:49:37 GMT", 784_111_777), ("Sun, +6 Nov 1994 08:49:37 GMT", 784_111_777),
        ] as [(String, TimeInterval)])
    func `a date is read in each of its formats, and without its redundant parts`(text: String, seconds: TimeInterval) {
        #expect(Date(httpDate: text) == Date(timeIntervalSince1970: seconds))
    }

    @Test(arguments: [
        "", " ", "0", "-1", "120", "now", "Sun", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 06 Nov 1994 08:49 GMT",
        "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 29 Feb 2023 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 06 Nov 0000 08:49:37 GMT", "Sun, 06 Nov 994 08:49:37 GMT", "Sun, 06 Nov 19944 08:49:37 GMT",
        "Sun, \u{0666} Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT 1995",
        "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT", "Xyz, 06 Nov 1994 08:49:37 GMT",
        "Sun, 99999999999999999999 Nov 1994 08:49:37 GMT", "Sun,\u{301} 06 Nov 1994 08:49:37 GMT",
    ])
    func `anything else is no date`(text: String) {
        #expect(Date(httpDate: text) == nil)
        #expect(Date(httpDate: text + String(repeating: " ,", count: 500_000)) == nil)
    }

    @Test(
        arguments: [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (784_111_777.9, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (-0.5, "Wed, 31 Dec 1969 23:59:59 GMT"), (1_709_251_199, "Thu, 29 Feb 2024 23:59:59 GMT"),
            (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"), (253_402_300_800, nil), (-62_135_596_801, nil),
            (.infinity, nil), (-.infinity, nil), (.nan, nil), (.greatestFiniteMagnitude, nil),
        ] as [(TimeInterval, String?)])
    func `a date is written in the format of today`(seconds: TimeInterval, text: String?) {
        #expect(Date(timeIntervalSince1970: seconds).httpDate == text)
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>) func `a date that was written is read`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var calendar = Calendar(identifier: .gregorian)
        calendar.locale = Locale(identifier: "en_US_POSIX")
        calendar.timeZone = .gmt
        for _ in 0..<1_000 {
            let date = Date(
                timeIntervalSince1970: .random(in: -62_135_596_800..<253_402_300_800, using: &random).rounded(.down))
            let text = try #require(date.httpDate)
            #expect(Date(httpDate: text) == date, "seed \(seed)")
            // Before that, the calendar has Julian days.
            guard date.timeIntervalSince1970 > -12_219_292_800 else { continue }
            let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second, .weekday], from: date)
            let (weekdays, months) = (["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"], calendar.shortMonthSymbols)
            let expected = String(
                format: "%@, %02d %@ %04d %02d:%02d:%02d GMT", weekdays[(parts.weekday ?? 0) - 1], parts.day ?? 0,
                months[(parts.month ?? 0) - 1], parts.year ?? 0, parts.hour ?? 0, parts.minute ?? 0, parts.second ?? 0)
            #expect(text == expected, "seed \(seed)")
        }
    }

    /// RFC 6265 §5.1.1; control characters do not reach it.
    @Test func `every delimiter separates the parts of a cookie's date, and nothing else does`() {
        let delimiters = "\t !\"#$%&'()*+,-./;<=>?@[\\]^_`{|}~"
        for byte in [9] + (32...126 as ClosedRange<UInt8>) {
            let mark = String(decoding: [byte], as: UTF8.self)
            let date = Date(cookieDate: ["06", "Nov", "1994", "08:49:37"].joined(separator: mark))
            #expect((date != nil) == delimiters.contains(mark), "\(mark)")
        }
    }

    /// A year of two digits is between 1970 and 2069.
    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Sun, 06-Nov-1994 08:49:37 GMT", 784_111_777),
            ("Sun, 06-Nov-94 08:49:37 GMT", 784_111_777), ("1994 nOVember 6 8:49:37", 784_111_777),
            ("8:49:37 6 Nov 94", 784_111_777), ("06 Nov 1994 08:49:37.123 CET", 784_111_777),
            ("Sun, 06 Nov 1994x 08:49:37", 784_111_777), ("06x Nov 1994 08:49:37", 784_111_777),
            ("6/Nov/1994/8:49:37", 784_111_777),
            ("01 Jan 69 00:00:00", 3_124_224_000), ("01 Jan 70 00:00:00", 0), ("01 Jan 00 00:00:00", 946_684_800),
            ("01 Jan 1601 00:00:00", -11_644_473_600), ("01 Jan 0000 00:00:00", 946_684_800),
            ("01 Jan 0001 00:00:00", 978_307_200), ("01 Jan 0069 00:00:00", 3_124_224_000),
            ("01 Jan 0070 00:00:00", 0),
        ] as [(String, TimeInterval)])
    func `a cookie's date may have its parts in any order`(text: String, seconds: TimeInterval) {
        #expect(Date(cookieDate: text) == Date(timeIntervalSince1970: seconds))
    }

    @Test(arguments: [
        "", " ", "Wed", "06 Nov 1994", "06 Nov 08:49:37", "Nov 1994 08:49:37", "06 1994 08:49:37", "06 Nov 1994 08:49",
        "31 Feb 1994 08:49:37", "00 Nov 1994 08:49:37", "06 Nov 1600 08:49:37", "06 Nov 19944 08:49:37",
        "006 Nov 1994 08:49:37", "06 Nov 1994 24:00:00", "06 Nov 1994 08:60:00", "06 Nov 1994 08:49:60",
        "06 Nov 194 1994 08:49:37", "06 Nov 1994 008:49:37", "06 Nov 1994 08:49x:37", "06 Nov 1994 ::",
        "06 No 1994 08:49:37",
        "06 N🙂 1994 08:49:37", "\u{666} Nov 1994 08:49:37",
    ])
    func `anything else is no date of a cookie`(text: String) {
        #expect(Date(cookieDate: text) == nil)
    }

    // Dates of header fields.

    private static let written = "Sun, 06 Nov 1994 08:49:37 GMT"

    @Test func `a field is read and written as a date`() {
        var fields: HTTPFields = [.lastModified: Self.written, .expires: "0"]
        #expect(fields[date: .lastModified] == Date(timeIntervalSince1970: 784_111_777))
        #expect(fields[date: .expires] == nil)
        #expect(fields[date: .date] == nil)
        fields[date: .expires] = Date(timeIntervalSince1970: 784_111_777.5)
        #expect(fields[.expires] == Self.written)
        fields[date: .expires] = Date(timeIntervalSince1970: .nan)
        fields[date: .lastModified] = nil
        #expect(fields.isEmpty)
    }

    @Test func `the date of a response is sent in the next request`() async throws {
        let date = try await stubs.get(.text("a").field(.lastModified, Self.written)).headerFields[date: .lastModified]
        let request = stubs.request { $0.headers[date: .ifModifiedSince] = date }
        #expect(request.field("If-Modified-Since") == Self.written)
    }
}
