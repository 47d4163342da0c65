/// The bytes of a body that have arrived and were not read yet.
struct BodyBuffer: Sendable {
    /// The most memory that is reserved because a server announces a length.
    private static let longestReserve = 16 << 20

    private let limit: Int
    private(set) var data = Data()
    /// Whether memory is reserved: the first piece is copied then.
    private var isReserved = false

    init(limit: Int? = nil) {
        self.limit = limit ?? .max
    }

    /// Starts a new response and discards the previous one, such as a redirect.
    ///
    /// - Parameter length: The number of bytes that the server announces; negative if unknown.
    mutating func begin(length: Int64) {
        data = Data()
        // A small body comes in one piece, which becomes the buffer.
        isReserved = length > 1 << 16
        if isReserved { data.reserveCapacity(min(Int(clamping: length), limit, Self.longestReserve)) }
    }

    /// - Throws: ``BodyTooLong`` for more bytes than the limit; the buffer is full then.
    mutating func receive(_ bytes: Data) throws(BodyTooLong) {
        guard bytes.count <= limit - data.count else {
            data.append(bytes.prefix(max(0, limit - data.count)))
            throw BodyTooLong(limit: limit)
        }
        // A slice is copied: it would keep all that it is a slice of.
        if data.isEmpty, !isReserved, bytes.startIndex == 0 { data = bytes } else { data.append(bytes) }
    }

    /// Takes the bytes out; `nil` if there are none.
    mutating func take() -> Data? {
        guard !data.isEmpty else { return nil }
        defer { (data, isReserved) = (Data(), false) }
        return data
    }
}

/// The body has more bytes than its limit.
struct BodyTooLong: Error {
    let limit: Int
}
