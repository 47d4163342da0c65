/// The bytes of a body that have arrived and were not read yet.
struct BodyBuffer: Sendable {
    let limit: Int
    private(set) var data = Data()

    init(limit: Int? = nil) {
        self.limit = limit ?? .max
    }

    /// - Throws: ``BodyTooLong`` for more bytes than the limit; the buffer is full then.
    mutating func receive(_ bytes: Data) throws(BodyTooLong) {
        guard bytes.count <= limit - data.count else {
            data.append(bytes.prefix(max(0, limit - data.count)))
            throw BodyTooLong(limit: limit)
        }
        // A slice is copied: it would keep all that it is a slice of.
        if data.isEmpty, bytes.startIndex == 0 { data = bytes } else { data.append(bytes) }
    }

    /// Takes the bytes out; `nil` if there are none.
    mutating func take() -> Data? {
        guard !data.isEmpty else { return nil }
        defer { data = Data() }
        return data
    }
}

/// The body has more bytes than its limit.
struct BodyTooLong: Error {
    let limit: Int
}
