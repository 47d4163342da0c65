/// Bytes of a body that do not fit in memory, in temporary files, which are read once, in order.
///
/// The disk is used on a queue of its own: neither a callback of Foundation, whose queue all sessions share, nor a
/// reader's thread waits for it. Only if the disk is so much slower than the network that 4 MB wait to be written, the
/// callback waits: the alternatives are a process without memory, or a call that fails.
final class Overflow: Sendable {
    private struct Spill {
        let file: File
        var written: Int64 = 0
        var read: Int64 = 0
    }

    /// The bytes that may wait to be written: 4 MB.
    private static let maximumWaiting = 1 << 22
    /// The most bytes that are read at a time.
    private static let pieceSize: Int64 = 1 << 20
    /// The size after which another file is used, so that the disk has room again for what was read.
    private static let fileSize: Int64 = 1 << 26

    private let queue = DispatchQueue(label: "URLConfig.overflow", qos: .ofFiles)
    /// The files in order; only the queue uses them.
    private let spills = Locked<[Spill]>([])
    private let waiting = Locked(0)
    private let makeFile: @Sendable () throws -> File
    private let failed: @Sendable (any Error) -> Void

    /// - Parameter failed: Called with the `URLError` if bytes cannot be written or read.
    init(
        in makeFile: @escaping @Sendable () throws -> File = { try File.temporary() },
        failed: @escaping @Sendable (any Error) -> Void
    ) {
        (self.makeFile, self.failed) = (makeFile, failed)
    }

    /// Writes bytes soon, after those before.
    func append(_ bytes: Data) {
        waiting.withLock { $0 += bytes.count }
        work { [self] spills in
            defer { waiting.withLock { $0 -= bytes.count } }
            if spills.last.map({ $0.written >= Self.fileSize }) ?? true { spills.append(Spill(file: try makeFile())) }
            let last = spills.count - 1
            try spills[last].file.appendTemporarily(bytes, count: &spills[last].written)
        }
    }

    /// Waits until there is memory for more bytes.
    func waitForRoom() {
        if waiting.withLock({ $0 }) > Self.maximumWaiting { queue.sync {} }
    }

    /// Reads the next bytes, and removes them; the function is not called if there are none.
    func take(_ use: @escaping @Sendable (Data) -> Void) {
        work { spills in
            guard let first = spills.first, first.read < first.written else { return }
            let count = Int(min(Self.pieceSize, first.written - first.read))
            let bytes = try File.attempt(.cannotOpenFile, "a temporary file cannot be read") {
                let bytes = try first.file.bytes(at: first.read, count: count)
                guard !bytes.isEmpty else { throw SystemError(code: EIO) }
                return bytes
            }
            spills[0].read += Int64(bytes.count)
            if spills[0].read == spills[0].written { spills.removeFirst() }
            use(bytes)
        }
    }

    private func work(_ work: @escaping @Sendable (inout [Spill]) throws -> Void) {
        queue.async { [self] in
            // Not with the lock held: the disk is slow, and the function has locks of its own.
            var spills = self.spills.withLock { $0 }
            defer { self.spills.set(\.self, spills) }
            do {
                try work(&spills)
            } catch {
                failed(error)
            }
        }
    }
}
