/// SHA-256 (FIPS 180-4) and HMAC with it (RFC 2104), which Foundation does not have on Linux.
enum SHA256 {
    private static let roundConstants = primes(64).map { fraction(cbrt($0)) }
    private static let start = primes(8).map { fraction($0.squareRoot()) }
    private static let blockSize = 64

    /// 32 bytes that only somebody with the key can compute.
    static func code(for message: some Sequence<UInt8>, key: some Collection<UInt8>) -> [UInt8] {
        var block = key.count > blockSize ? digest(Array(key)) : Array(key)
        block += [UInt8](repeating: 0, count: blockSize - block.count)
        return digest(block.map { $0 ^ 0x5C } + digest(block.map { $0 ^ 0x36 } + message))
    }

    /// The digest of a message, 32 bytes.
    static func digest(_ message: [UInt8]) -> [UInt8] {
        var bytes = message + [0x80]
        bytes += [UInt8](repeating: 0, count: (2 * blockSize - 8 - bytes.count % blockSize) % blockSize)
        bytes += withUnsafeBytes(of: UInt64(message.count * 8).bigEndian, Array.init)
        var state = start
        for offset in stride(from: 0, to: bytes.count, by: blockSize) {
            add(bytes[offset..<offset + blockSize], to: &state)
        }
        return state.flatMap { withUnsafeBytes(of: $0.bigEndian, Array.init) }
    }

    private static func add(_ block: ArraySlice<UInt8>, to state: inout [UInt32]) {
        var words = (0..<16).map { word in
            (0..<4).reduce(0 as UInt32) { $0 << 8 | UInt32(block[block.startIndex + 4 * word + $1]) }
        }
        for index in 16..<64 {
            let (near, far) = (words[index - 2], words[index - 15])
            let mixed = (near.rotated(17) ^ near.rotated(19) ^ near >> 10) &+ words[index - 7]
            words.append(mixed &+ (far.rotated(7) ^ far.rotated(18) ^ far >> 3) &+ words[index - 16])
        }
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for index in 0..<64 {
            let choice = (e & f) ^ (~e & g)
            let first = h &+ (e.rotated(6) ^ e.rotated(11) ^ e.rotated(25)) &+ choice
            let sum = first &+ roundConstants[index] &+ words[index]
            let majority = (a & b) ^ (a & c) ^ (b & c)
            (h, g, f, e, d, c, b, a) = (
                g, f, e, d &+ sum, c, b, a, sum &+ (a.rotated(2) ^ a.rotated(13) ^ a.rotated(22)) &+ majority
            )
        }
        for (index, value) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= value }
    }

    /// The constants are the first 32 bits of the fractions of roots of primes (FIPS 180-4 §4.2.2, §5.3.3).
    private static func primes(_ count: Int) -> [Double] {
        let all = (2...311).filter { number in !(2..<number).contains { number % $0 == 0 } }
        return all.prefix(count).map(Double.init)
    }

    private static func fraction(_ root: Double) -> UInt32 {
        UInt32((root - root.rounded(.down)) * 0x1_0000_0000)
    }
}

extension UInt32 {
    fileprivate func rotated(_ count: UInt32) -> UInt32 { self >> count | self << (32 - count) }
}
