/// Bytes in a temporary file without a name, which are read once, in order.
///
/// The file is gone when it is released, and also if the process crashes.
final class SpillFile: Sendable {
    private struct State {
        var written: off_t = 0
        var read: off_t = 0
    }

    /// The most bytes that are read at a time.
    private static let pieceSize: off_t = 1 << 20
    /// The size after which another file is used, so that this one can be removed when it was read.
    private static let size: off_t = 1 << 26

    private let descriptor: Int32
    private let state = Locked(State())

    /// A new file in the temporary folder.
    ///
    /// - Throws: `URLError` with code `.cannotCreateFile`.
    convenience init() throws {
        var template = Array((NSTemporaryDirectory() + "/URLConfig-spill-XXXXXX").utf8CString)
        let descriptor = try Self.attempt(.cannotCreateFile, "created") { mkstemp(&template) }
        unlink(template)
        self.init(descriptor: descriptor)
    }

    /// - Parameter descriptor: It is closed by this file.
    init(descriptor: Int32) {
        self.descriptor = descriptor
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    deinit { close(descriptor) }

    var isEmpty: Bool { state.withLock { $0.read == $0.written } }
    var isFull: Bool { state.withLock { $0.written >= Self.size } }

    /// - Throws: `URLError` with code `.cannotWriteToFile`, for example if the disk is full.
    func append(_ bytes: Data) throws {
        var rest = bytes
        while !rest.isEmpty {
            let offset = state.withLock { $0.written }
            let count = try Self.attempt(.cannotWriteToFile, "written") {
                rest.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, offset) }
            }
            rest = rest.dropFirst(count)
            state.withLock { $0.written += off_t(count) }
        }
    }

    /// The next bytes; `nil` if there are none.
    ///
    /// - Throws: `URLError` with code `.cannotOpenFile` if they cannot be read.
    func take() throws -> Data? {
        let (offset, length) = state.withLock { ($0.read, min(Self.pieceSize, $0.written - $0.read)) }
        guard length > 0 else { return nil }
        var data = Data(count: Int(length))
        let count = try Self.attempt(.cannotOpenFile, "read") {
            data.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, offset) }
        }
        state.withLock { $0.read += off_t(count) }
        return data.prefix(count)
    }

    /// The positive result of a call of the system.
    private static func attempt<Number: FixedWidthInteger & SignedInteger>(
        _ code: URLError.Code, _ verb: String, _ call: () -> Number
    ) throws -> Number {
        do throws(POSIXError) {
            let number = try POSIXError.call(call)
            guard number > 0 else { throw POSIXError(.EIO) }
            return number
        } catch {
            throw URLError(code, "a temporary file cannot be \(verb)", error)
        }
    }
}
