import Testing

@testable import URLConfig

/// Digests of texts, whose secrets they do not contain.
@Suite struct DigestTests {
    /// The vectors of the authors: byte n is n, in the key and in the message.
    @Test(
        arguments: [
            (0, 0x726F_DB47_DD0E_0E31), (1, 0x74F8_39C5_93DC_67FD), (7, 0xAB02_00F5_8B01_D137),
            (8, 0x93F5_F579_9A93_2462), (15, 0xA129_CA61_49BE_45E5), (63, 0x958A_324C_EB06_4572),
        ] as [(Int, UInt64)])
    func `it is SipHash-2-4`(length: Int, value: UInt64) {
        let key = Digest.Key(first: 0x0706_0504_0302_0100, second: 0x0F0E_0D0C_0B0A_0908)
        let message = String(decoding: (0..<length).map { UInt8($0) }, as: UTF8.self)
        #expect(Digest(message, key: key).value == value)
    }

    @Test func `another key or another text gives another digest`() {
        let keys = [Digest.Key.known, Digest.Key(), Digest.Key()]
        let all = keys.flatMap { key in ["", "a", "b", "a\0"].map { Digest($0, key: key) } }
        #expect(Set(all).count == 12)
    }
}
