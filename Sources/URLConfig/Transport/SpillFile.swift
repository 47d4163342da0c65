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

    private let descriptor: Int32
    private let state = Locked(State())

    /// A new file in the temporary folder.
    ///
    /// - Throws: `URLError` with code `.cannotCreateFile`.
    convenience init() throws {
        var template = Array((NSTemporaryDirectory() + "/URLConfig-XXXXXX").utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw URLError(.cannotCreateFile, file: "a temporary file", errno) }
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

    /// - Throws: `URLError` with code `.cannotWriteToFile`, for example if the disk is full.
    func append(_ bytes: Data) throws {
        try bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let offset = state.withLock { $0.written }
                let count = pwrite(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count, offset)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw URLError(.cannotWriteToFile, file: "a temporary file", errno) }
                rest = rest.dropFirst(count)
                state.withLock { $0.written += off_t(count) }
            }
        }
    }

    /// The next bytes; `nil` if there are none.
    ///
    /// - Throws: `URLError` with code `.cannotOpenFile` if they cannot be read.
    func take() throws -> Data? {
        let (offset, length) = state.withLock { ($0.read, min(Self.pieceSize, $0.written - $0.read)) }
        guard length > 0 else { return nil }
        var data = Data(count: Int(length))
        let count = data.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, offset) }
        guard count > 0 else { throw URLError(.cannotOpenFile, file: "a temporary file", errno) }
        let isRead = state.withLock { state in
            state.read += off_t(count)
            guard state.read == state.written else { return false }
            state = State()
            return true
        }
        // Otherwise a long transfer would keep all of its bytes on the disk.
        if isRead { ftruncate(descriptor, 0) }
        return data.prefix(count)
    }
}

extension URLError {
    /// An error of a file, with the system's reason.
    ///
    /// - Parameters:
    ///   - file: How the file is called in the message.
    ///   - number: The `errno`.
    init(_ code: Code, file: String, _ number: Int32) {
        let cause = POSIXErrorCode(rawValue: number).map { POSIXError($0) }
        var information: [String: Any] = [:]
        information[NSUnderlyingErrorKey] = cause
        let verb = code == .cannotWriteToFile ? "written" : code == .cannotCreateFile ? "created" : "read"
        information[NSLocalizedDescriptionKey] =
            "\(file) cannot be \(verb): \(String(cString: strerror(number)))"
        self.init(code, userInfo: information)
    }
}
