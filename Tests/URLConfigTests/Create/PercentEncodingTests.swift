import Testing

@testable import URLConfig

/// Which bytes stand for themselves: RFC 3986 and WHATWG URL, byte by byte.
@Suite struct PercentEncodingTests {
    private static let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

    @Test(
        arguments: [
            ("unreserved", .unreserved, "-._~"), ("path and query", .pathAndQuery, "-._~!$&'()*+,;=:@/?"),
            ("reference", .reference, "-._~!$&'()*+,;=:@/?#"), ("form", .form, "*-._ "),
        ] as [(String, PercentEncoding, String)])
    func `a set contains exactly the characters of its standard`(name: String, encoding: PercentEncoding, marks: String)
    {
        let expected = Set((Self.letters + marks).utf8)
        #expect(Set((UInt8.min...UInt8.max).filter(encoding.allows)) == expected, "\(name)")
    }

    @Test func `every byte that is not allowed is a percent sign and two upper-case digits`() {
        for byte in UInt8(0)..<128 {
            let hex = String(byte, radix: 16, uppercase: true)
            let text = String(Unicode.Scalar(byte))
            let expected = PercentEncoding.unreserved.allows(byte) ? text : "%" + (hex.count < 2 ? "0" : "") + hex
            #expect(text.percentEncoded(.unreserved) == expected)
        }
        #expect("\u{10FFFF}".percentEncoded(.unreserved) == "%F4%8F%BF%BF")
    }

    @Test(arguments: [
        ("%41", "%41"), ("%4", "%254"), ("%", "%25"), ("%%41", "%25%41"), ("%4g", "%254g"), ("%g4", "%25g4"),
        ("%aF", "%aF"), ("a b%20", "a%20b%20"),
    ])
    func `a valid escape may be kept`(text: String, expected: String) {
        #expect(text.percentEncoded(.pathAndQuery) == expected)
    }

    @Test func `a form's space is left to become a plus`() {
        #expect("a b+c".percentEncoded(.form) == "a b%2Bc")
    }
}
