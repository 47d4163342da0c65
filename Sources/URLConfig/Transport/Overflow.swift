/// Bytes of a body that do not fit in memory, in temporary files.
///
/// The disk is used on a queue of its own: neither a callback of Foundation, whose queue all sessions share, nor a
/// reader's thread waits for it. Only if the disk is so much slower than the network that 4 MB wait to be written, the
/// callback waits: the alternatives are a process without memory, or a call that fails.
final class Overflow: Sendable {
    private let queue = DispatchQueue(label: "URLConfig.overflow", qos: .userInitiated)
    /// The files in order; only the queue uses them.
    ///
    /// There are several, so that the disk has room again for what was read.
    private let files = Locked<[SpillFile]>([])
    private let failed: @Sendable (any Error) -> Void
    /// The bytes that may wait to be written: 4 MB.
    private static let maximumWaiting = 1 << 22
    private let waiting = Locked(0)

    /// - Parameter failed: Called with the error if bytes cannot be written or read.
    init(failed: @escaping @Sendable (any Error) -> Void) {
        self.failed = failed
    }

    /// Writes bytes soon, after those before.
    func append(_ bytes: Data) {
        waiting.withLock { $0 += bytes.count }
        queue.async { [self] in
            defer { waiting.withLock { $0 -= bytes.count } }
            do {
                var file = files.withLock { $0.last }
                if file?.isFull ?? true {
                    let new = try SpillFile()
                    files.withLock { $0.append(new) }
                    file = new
                }
                try file?.append(bytes)
            } catch {
                failed(error)
            }
        }
    }

    /// Waits until there is memory for more bytes.
    func waitForRoom() {
        if waiting.withLock({ $0 }) > Self.maximumWaiting { queue.sync {} }
    }

    /// Reads the next bytes, and removes them.
    func take(_ use: @escaping @Sendable (Data) -> Void) {
        queue.async { [self] in
            do {
                guard let file = files.withLock({ $0.first }), let bytes = try file.take() else { return }
                // The file is closed after the lock.
                let read = file.isEmpty ? files.withLock { $0.removeFirst() } : nil
                withExtendedLifetime(read) { use(bytes) }
            } catch {
                failed(error)
            }
        }
    }
}

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
        try file.appendTemporarily(bytes, count: &count)
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
