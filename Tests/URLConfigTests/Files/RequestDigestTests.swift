import Foundation
import Testing

@testable import URLConfig

/// What recognizes requests and requesters without their secrets.
@Suite struct RequestDigestTests {
    private static func hex(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }

    @Test(arguments: [
        (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
        (56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"),
        (63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"),
        (64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
        (119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"),
        (1000, "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"),
    ])
    func `digests are those of FIPS 180-4`(count: Int, digest: String) {
        #expect(Self.hex(SHA256.digest([UInt8](repeating: UInt8(ascii: "a"), count: count))) == digest)
    }

    @Test func `codes are those of RFC 4231`() {
        let short = SHA256.code(for: "what do ya want for nothing?".utf8, key: Array("Jefe".utf8))
        #expect(Self.hex(short) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        let long = SHA256.code(
            for: "Test Using Larger Than Block-Size Key - Hash Key First".utf8,
            key: [UInt8](repeating: 0xAA, count: 131))
        #expect(Self.hex(long) == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
    }

    @Test func `the same secret has another digest with another key`() {
        let requester = Requester(DownloadFolder.request(fields: ["Authorization": "Bearer s3cret"]))
        let (first, second) = (Data([1]), Data([2]))
        #expect(requester.digest(key: first) == requester.digest(key: first))
        #expect(requester.digest(key: first) != requester.digest(key: second))
    }

    @Test func `the fields of a trace do not tell who asks`() {
        let codes = ["1", "2"].flatMap { value in
            ["traceparent", "X-B3-TraceId", "Authorization"].map { name in
                Requester(DownloadFolder.request(fields: [name: value])).digest(key: Data())
            }
        }
        #expect(codes[0] == codes[3] && codes[1] == codes[4] && codes[2] != codes[5])
    }
}
