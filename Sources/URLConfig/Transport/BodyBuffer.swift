/// The bytes of a body that have arrived but were not read.
///
/// What exceeds the memory goes to a temporary file, which is read back in order.
struct BodyBuffer: Sendable {
    private let limit: Int
    private let limitName: String
    private let memory: Int
    /// The number of bytes that may still arrive.
    private var room: Int
    private(set) var data = Data()
    private var spill: SpillFile?

    /// - Parameters:
    ///   - limit: The maximum number of bytes of the whole body.
    ///   - memory: The maximum number of bytes in memory; by default all.
    init(limit: Int? = nil, _ limitName: String = "responseLimit", memory: Int = .max) {
        self.limit = limit ?? .max
        self.limitName = limitName
        self.memory = memory
        room = max(0, self.limit)
    }

    /// - Throws: ``RequestError/Code/responseTooLarge`` for more bytes than the limit; the bytes up to the limit are
    ///   kept. `URLError` if the temporary file cannot be written.
    mutating func receive(_ bytes: Data) throws {
        let fitting = bytes.prefix(room)
        room -= fitting.count
        try append(fitting)
        guard fitting.count == bytes.count else {
            let reason = "the body is longer than \(limitName), \(limit.shownAsBytes)"
            throw RequestError(.responseTooLarge, reason: reason)
        }
    }

    private mutating func append(_ bytes: Data) throws {
        if spill?.isEmpty == false || !data.isEmpty && bytes.count > memory - data.count {
            let file = try spill ?? SpillFile()
            spill = file
            return try file.append(bytes)
        }
        // A slice is copied, because it would keep the whole data in memory.
        if data.isEmpty, bytes.startIndex == 0 { data = bytes } else { data.append(bytes) }
    }

    /// Removes and returns bytes; `nil` if there are none.
    mutating func take() throws -> Data? {
        if data.isEmpty { return try spill?.take() }
        defer { data = Data() }
        return data
    }

    mutating func removeAll() { self = Self(limit: limit, limitName, memory: memory) }
}
