/// The bytes of a body that have arrived and were not read yet.
struct BodyBuffer: Sendable {
    /// An announced length is believed up to here: beyond, the buffer grows with what really comes.
    private static let longestReserve = 16 << 20

    private let limit: Int
    private(set) var data = Data()
    /// Whether there is room for the announced length: the first piece must not take its place.
    private var isReserved = false

    init(limit: Int? = nil) {
        self.limit = limit ?? .max
    }

    /// Begins a new response and discards the previous one, such as a refusal before its credentials.
    ///
    /// - Parameter length: How many bytes the server announces; negative if it does not.
    mutating func begin(length: Int64) {
        data = Data()
        // A small body comes in one piece, which is then the buffer.
        isReserved = length > 1 << 16
        if isReserved { data.reserveCapacity(min(Int(clamping: length), limit, Self.longestReserve)) }
    }

    /// - Throws: ``BodyTooLong`` for more than the limit; the buffer is full then.
    mutating func receive(_ bytes: Data) throws(BodyTooLong) {
        guard bytes.count <= limit - data.count else {
            data.append(bytes.prefix(max(0, limit - data.count)))
            throw BodyTooLong(limit: limit)
        }
        // A slice would be one to the caller as well, and keep all that it is a slice of.
        if data.isEmpty, !isReserved, bytes.startIndex == 0 { data = bytes } else { data.append(bytes) }
    }

    /// Takes the bytes out; `nil` if there are none.
    mutating func take() -> Data? {
        guard !data.isEmpty else { return nil }
        defer { (data, isReserved) = (Data(), false) }
        return data
    }
}

/// More bytes than were wanted.
struct BodyTooLong: Error {
    let limit: Int
}
