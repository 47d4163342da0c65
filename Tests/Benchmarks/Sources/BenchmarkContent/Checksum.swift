/// The number of the bytes of a body, and a sum that depends on their order.
public struct Checksum: Codable, Equatable, Sendable {
    /// The number of bytes.
    public private(set) var count = 0
    private var sum: UInt64 = 0

    /// Of no bytes.
    public init() {}

    /// Adds the bytes that follow.
    public mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var place = UInt64(count)
        for byte in bytes {
            place &+= 1
            sum &+= place &* UInt64(byte)
        }
        count += bytes.count
    }

    /// Adds bytes that are 0, without looking at them.
    public mutating func addZeros(_ count: Int) {
        self.count += count
    }
}
