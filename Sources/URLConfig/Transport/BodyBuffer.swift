/// Where the bytes of an answer go, in the order in which they arrive.
protocol BodySink: Sendable {
    /// An answer begins; another one that has begun before, such as a refusal that was answered with credentials, counts no
    /// more.
    ///
    /// - Parameter length: How many bytes the server announces, compressed maybe; negative if it does not.
    mutating func begin(length: Int64)

    /// Some bytes, decompressed.
    ///
    /// - Throws: What the exchange is to end with.
    mutating func receive(_ bytes: Data) throws
}

/// The whole body in one buffer.
struct BodyBuffer: BodySink {
    /// An announced length is believed up to here: beyond, the buffer grows with what really comes.
    private static let longestReserve = 16 << 20

    /// The most bytes that are taken; `nil` for as many as come.
    let limit: Int?
    private(set) var data = Data()
    /// Whether there is room for the announced length: the first piece must not take its place.
    private var isReserved = false

    init(limit: Int? = nil) {
        self.limit = limit
    }

    mutating func begin(length: Int64) {
        data = Data()
        let most = Int64(min(limit ?? Self.longestReserve, Self.longestReserve))
        // A small body comes in one piece, which is then the buffer.
        isReserved = length > 1 << 16
        if isReserved { data.reserveCapacity(Int(min(length, most))) }
    }

    mutating func receive(_ bytes: Data) throws {
        if let limit, bytes.count > limit - data.count {
            data.append(bytes.prefix(max(0, limit - data.count)))
            throw BodyTooLong(limit: limit)
        }
        // A slice, which only a custom URLProtocol hands over, would be one to the caller, and hold all that it is a slice of.
        if data.isEmpty, !isReserved, bytes.count < 1 << 16, bytes.startIndex == 0 {
            data = bytes
        } else {
            data.append(bytes)
        }
    }
}

/// More bytes than were wanted.
struct BodyTooLong: Error {
    let limit: Int
}
