import Testing

@testable import URLConfig

/// `Content-Range` (RFC 9110 §14.4), and values that cannot be true.
@Suite struct ContentRangeTests {
    @Test(
        arguments: [
            ("bytes 0-9/100", 0..<10, 100), ("bytes 0-9/*", 0..<10, nil), ("bytes */100", nil, 100),
            ("BYTES 90-99/100", 90..<100, 100), (" bytes  0 - 0 / 1 ", nil, nil), ("Bytes\t5-5/6 ", 5..<6, 6),
            ("bytes */0", nil, 0), ("bytes 000-009/010", 0..<10, 10),
            ("bytes 0-9223372036854775806/9223372036854775807", 0..<Int64.max, Int64.max),
        ] as [(String, Range<Int64>?, Int64?)])
    func `a valid value has a range and a length`(text: String, range: Range<Int64>?, total: Int64?) {
        let found = ContentRange(text)
        #expect(found?.range == range)
        #expect(found?.total == total)
    }

    @Test(
        arguments: [
            "", "bytes", "bytes ", "bytes 0-9", "bytes 0-9/", "bytes /9", "bytes -/9", "bytes 0-/9", "bytes -9/10",
            "bytes */*", "bytes 9-0/10", "bytes 0-9/9", "bytes 0-10/10", "bytes 0-0/0", "bytes -1-0/10",
            "bytes +0-9/10", "bytes 0-+9/10", "bytes 0-9/+10", "bytes 0-9/-1", "bytes 0-9-9/10", "bytes 0-9/10/11",
            "bytes 0-9/10,11", "bytes=0-9/10", "bytes0-9/10", "items 0-9/10", "bytes\u{301} 0-9/10",
            "bytes 0-9/9223372036854775808", "bytes 0-9223372036854775807/*", "bytes 0x0-9/10", "bytes ٠-٩/10",
            "bytes 99999999999999999999-99999999999999999999/*", "bytes 0-9 /10 20", "bytes 0-9/10\u{0}",
        ])
    func `an invalid value is ignored`(text: String) {
        #expect(ContentRange(text) == nil)
    }

    @Test func `the time grows with the length`() {
        for text in ["-", "9", " ", "/", "*"] {
            #expect(growth(from: 20_000) { _ = ContentRange("bytes 0" + String(repeating: text, count: $0)) } < 24)
        }
    }
}
