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
    /// The files of what does not fit, in order.
    ///
    /// There are several, so that the disk has room again for what was read.
    private var files: [SpillFile] = []

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
        if !files.isEmpty || !data.isEmpty && bytes.count > memory - data.count {
            if files.last?.isFull ?? true { files.append(try SpillFile()) }
            try files.last?.append(bytes)
            return
        }
        // A slice is copied, because it would keep the whole data in memory.
        if data.isEmpty, bytes.startIndex == 0 { data = bytes } else { data.append(bytes) }
    }

    /// Removes and returns bytes; `nil` if there are none.
    mutating func take() throws -> Data? {
        guard data.isEmpty else {
            defer { data = Data() }
            return data
        }
        let piece = try files.first?.take()
        if files.first?.isEmpty == true { files.removeFirst() }
        return piece
    }

    mutating func removeAll() { self = Self(limit: limit, limitName, memory: memory) }
}
