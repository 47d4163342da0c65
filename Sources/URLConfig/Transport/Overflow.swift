/// Bytes of a body that do not fit in memory, in temporary files.
///
/// The disk is used on a queue of its own: neither a callback of Foundation, whose queue all sessions share, nor a
/// reader's thread waits for it. Bytes that wait to be written are in memory.
final class Overflow: Sendable {
    private let queue = DispatchQueue(label: "URLConfig.overflow", qos: .userInitiated)
    /// The files in order; only the queue uses them.
    ///
    /// There are several, so that the disk has room again for what was read.
    private let files = Locked<[SpillFile]>([])
    private let failed: @Sendable (any Error) -> Void

    /// - Parameter failed: Called with the error if bytes cannot be written or read.
    init(failed: @escaping @Sendable (any Error) -> Void) {
        self.failed = failed
    }

    /// Writes bytes soon, after those before.
    func append(_ bytes: Data) {
        queue.async { [self] in
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
