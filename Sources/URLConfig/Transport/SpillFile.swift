/// Bytes in a temporary file, which are read once, in order.
///
/// The file is gone when it is released, and on Linux also if the process crashes.
final class SpillFile: Sendable {
    private struct State {
        var written: Int64 = 0
        var read: Int64 = 0
    }

    /// The most bytes that are read at a time.
    private static let pieceSize: Int64 = 1 << 20
    /// The size after which another file is used, so that this one can be removed when it was read.
    private static let size: Int64 = 1 << 26

    private let file: File
    private let state = Locked(State())

    /// A new file in the temporary folder.
    ///
    /// - Throws: `URLError` with code `.cannotCreateFile`.
    convenience init() throws { self.init(try File.temporary()) }

    init(_ file: File) { self.file = file }

    var isEmpty: Bool { state.withLock { $0.read == $0.written } }
    var isFull: Bool { state.withLock { $0.written >= Self.size } }

    /// - Throws: `URLError` with code `.cannotWriteToFile`, for example if the disk is full.
    func append(_ bytes: Data) throws {
        var count: Int64 = 0
        defer { state.withLock { $0.written += count } }
        try File.attempt(.cannotWriteToFile, "a temporary file cannot be written") {
            try file.append(bytes, count: &count)
        }
    }

    /// The next bytes; `nil` if there are none.
    ///
    /// - Throws: `URLError` with code `.cannotOpenFile` if they cannot be read.
    func take() throws -> Data? {
        let (offset, count) = state.withLock { ($0.read, min(Self.pieceSize, $0.written - $0.read)) }
        guard count > 0 else { return nil }
        let bytes = try File.attempt(.cannotOpenFile, "a temporary file cannot be read") {
            let bytes = try file.bytes(at: offset, count: Int(count))
            guard !bytes.isEmpty else { throw SystemError(code: EIO) }
            return bytes
        }
        state.withLock { $0.read += Int64(bytes.count) }
        return bytes
    }
}
