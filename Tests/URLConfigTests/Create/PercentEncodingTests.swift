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

    @Test func `what does not fit is left out, and nothing is written past the end`() {
        for capacity in 0...20 {
            // A string may have room for more than was asked for.
            var room = 0
            _ = String(unsafeUninitializedCapacity: capacity) {
                room = $0.count
                return 0
            }
            let text = ByteWriter.text(capacity: capacity) {
                $0.write([UInt8]("ab".utf8))
                $0.write("\u{E9}", encoding: .unreserved)
                $0.write("c", encoding: .unreserved)
                $0.write(1)
            }
            let pieces = [("ab", 2), ("%C3%A9", 6), ("c", 3), ("\u{1}", 1)]
            let expected = pieces.reduce("") { $0.utf8.count + $1.1 <= room ? $0 + $1.0 : $0 }
            #expect(text == expected, "\(capacity)")
        }
    }

    @Test func `a form's space is left to become a plus`() {
        #expect("a b+c".percentEncoded(.form) == "a b%2Bc")
    }
}
