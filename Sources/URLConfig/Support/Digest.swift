/// Identifies a text without containing it: SipHash-2-4, which depends on a key.
///
/// It has 64 bits. So in practice two texts have different digests, unless somebody who knows the key makes them equal.
/// A longer secret cannot be found out, because many texts have its digest. A short one could be guessed, as with any
/// digest.
struct Digest: Codable, Hashable, Sendable {
    struct Key: Codable, Hashable, Sendable {
        var first = UInt64.random(in: .min ... .max)
        var second = UInt64.random(in: .min ... .max)

        /// For texts that are no secrets.
        static let known = Self(first: 0, second: 0)
    }

    let value: UInt64

    init(_ text: String, key: Key = .known) {
        var state = State(key)
        var (text, word, count) = (text, 0 as UInt64, 0 as UInt64)
        text.withUTF8 { bytes in
            for byte in bytes {
                word |= UInt64(byte) << (8 * (count % 8))
                count += 1
                guard count % 8 == 0 else { continue }
                state.add(word)
                word = 0
            }
        }
        state.add(word | count << 56)
        value = state.end()
    }

    private struct State {
        private var (a, b, c, d): (UInt64, UInt64, UInt64, UInt64)

        init(_ key: Key) {
            (a, c) = (key.first ^ 0x736F_6D65_7073_6575, key.first ^ 0x6C79_6765_6E65_7261)
            (b, d) = (key.second ^ 0x646F_7261_6E64_6F6D, key.second ^ 0x7465_6462_7974_6573)
        }

        mutating func add(_ word: UInt64) {
            d ^= word
            for _ in 0..<2 { mix() }
            a ^= word
        }

        mutating func end() -> UInt64 {
            c ^= 0xFF
            for _ in 0..<4 { mix() }
            return a ^ b ^ c ^ d
        }

        private mutating func mix() {
            (a, c) = (a &+ b, c &+ d)
            (b, d) = (b.rotated(13) ^ a, d.rotated(16) ^ c)
            (a, c) = (a.rotated(32) &+ d, c &+ b)
            (b, d) = (b.rotated(17) ^ c, d.rotated(21) ^ a)
            c = c.rotated(32)
        }
    }
}

extension UInt64 {
    fileprivate func rotated(_ count: UInt64) -> UInt64 { self << count | self >> (64 - count) }
}
