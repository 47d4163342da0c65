import Testing

@testable import URLConfig

/// Dates of cookies: RFC 6265 §5.1.1.
@Suite struct DateCookieTests {
    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "Sun, 06-Nov-1994 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT", "1994 nOVember 6 8:49:37", "8:49:37 6 Nov 94",
        "06 Nov 1994 08:49:37.123 CET", "Sun, 06 Nov 1994x 08:49:37", "06x Nov 1994 08:49:37", "6/Nov/1994/8:49:37",
    ])
    func `a date in any order`(text: String) {
        #expect(Date(cookieDate: text) == Date(timeIntervalSince1970: 784_111_777))
    }

    @Test(
        arguments: [
            ("69", 3_124_224_000), ("70", 0), ("00", 946_684_800), ("1601", -11_644_473_600),
            ("0000", 946_684_800), ("0001", 978_307_200), ("0069", 3_124_224_000), ("0070", 0),
        ] as [(String, TimeInterval)])
    func `years`(year: String, seconds: TimeInterval) {
        #expect(Date(cookieDate: "01 Jan \(year) 00:00:00") == Date(timeIntervalSince1970: seconds))
    }

    @Test(arguments: [
        "", " ", "Wed", "06 Nov 1994", "06 Nov 08:49:37", "Nov 1994 08:49:37", "06 1994 08:49:37", "06 Nov 1994 08:49",
        "31 Feb 1994 08:49:37", "00 Nov 1994 08:49:37", "06 Nov 1600 08:49:37", "06 Nov 19944 08:49:37",
        "006 Nov 1994 08:49:37", "06 Nov 1994 24:00:00", "06 Nov 1994 08:60:00", "06 Nov 1994 08:49:60",
        "06 Nov 1994 008:49:37", "06 Nov 1994 08:49x:37", "06 Nov 1994 ::", "06 No 1994 08:49:37",
        "06 N🙂 1994 08:49:37", "06 Nov 194 1994 08:49:37", "\u{666} Nov 1994 08:49:37",
    ])
    func `anything else gives none`(text: String) {
        #expect(Date(cookieDate: text) == nil)
    }
}
