/// The bytes of a body that have arrived but were not read.
struct BodyBuffer: Sendable {
    private let limit: Int
    private let limitName: String
    private(set) var data = Data()

    init(limit: Int? = nil, _ limitName: String = "responseLimit") {
        self.limit = limit ?? .max
        self.limitName = limitName
    }

    /// - Throws: ``RequestError/Code/responseTooLarge`` for more bytes than the limit. Then the buffer is full.
    mutating func receive(_ bytes: Data) throws(RequestError) {
        guard bytes.count <= limit - data.count else {
            data.append(bytes.prefix(max(0, limit - data.count)))
            let reason = "the body is longer than \(limitName), \(limit.shownAsBytes)"
            throw RequestError(.responseTooLarge, reason: reason)
        }
        // A slice is copied, because it would keep the whole data in memory.
        if data.isEmpty, bytes.startIndex == 0 { data = bytes } else { data.append(bytes) }
    }

    /// Removes and returns the bytes; `nil` if there are none.
    mutating func take() -> Data? {
        defer { removeAll() }
        return data.isEmpty ? nil : data
    }

    mutating func removeAll() { data = Data() }
}
