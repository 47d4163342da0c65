/// An open file, which is closed and unlocked when this is released.
///
/// Its functions throw what the system says. ``attempt(_:_:_:)`` makes the errors of callers of it.
final class File: Sendable {
    /// What a file is.
    struct Status: Sendable {
        private let status: stat

        init(_ status: stat) { self.status = status }

        /// The status of the file with a name; a symbolic link is not followed by default.
        init(_ path: String, followsLinks: Bool = false) throws(POSIXError) {
            var status = stat()
            _ = try File.call { followsLinks ? stat(path, &status) : lstat(path, &status) }
            self.init(status)
        }

        /// The status of the file with a name; `nil` if there is none.
        static func ifPresent(_ path: String) throws(POSIXError) -> Self? {
            do {
                return try Self(path)
            } catch {
                guard error.code == .ENOENT else { throw error }
                return nil
            }
        }

        var isRegular: Bool { status.st_mode & S_IFMT == S_IFREG }
        var isDirectory: Bool { status.st_mode & S_IFMT == S_IFDIR }
        var isLink: Bool { status.st_mode & S_IFMT == S_IFLNK }
        /// In bytes.
        var size: Int64 { Int64(status.st_size) }
        var inode: UInt64 { UInt64(status.st_ino) }

        /// When the content or a property has changed, in nanoseconds; no program can choose it.
        var changed: Int64 {
            #if canImport(Darwin)
            let time = status.st_ctimespec
            #else
            let time = status.st_ctim
            #endif
            // Two words, because the members of `timespec` cannot be imported in a release build on Linux.
            return withUnsafeBytes(of: time) { bytes in
                let words = bytes.bindMemory(to: Int.self)
                return Int64(words[0]) &* 1_000_000_000 &+ Int64(words[1])
            }
        }

        /// Whether it is a file of this user with one name.
        ///
        /// In a folder that all users may write to, somebody else may have put it there. After a crash, the second name
        /// may be that of the finished file.
        var isOwnFile: Bool { isRegular && status.st_nlink == 1 && status.st_uid == geteuid() }

        func isSameFile(as other: Self) -> Bool {
            (status.st_dev, status.st_ino) == (other.status.st_dev, other.status.st_ino)
        }
    }

    private let descriptor: Int32
    /// The path of a file whose name is removed when this is released.
    private let ownName: String?

    /// Opens a file; a symbolic link is refused by default, with `ELOOP`.
    ///
    /// - Parameters:
    ///   - mode: The permissions of a new file, from which the umask of the process is subtracted.
    ///   - isTemporary: Whether the name of the file is removed when this is released.
    init(
        _ path: String, _ flags: Int32, mode: mode_t = 0o666, followsLinks: Bool = false, isTemporary: Bool = false
    ) throws(POSIXError) {
        // Opening a named pipe would block without O_NONBLOCK, which has no effect on files.
        let flags = flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (followsLinks ? 0 : O_NOFOLLOW)
        descriptor = try Self.call { open(path, flags, mode) }
        ownName = isTemporary ? path : nil
    }

    deinit {
        if let ownName { unlink(ownName) }
        // A process that another thread is just starting has the descriptor, too, so closing it may not unlock the
        // file.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Creates a temporary file that only this user can read.
    ///
    /// On Linux it has no name, so that nothing remains if the process is killed. On Apple platforms it keeps its name
    /// until it is released, because Foundation reads streams of files by their names.
    ///
    /// - Throws: `URLError` with code `.cannotCreateFile`.
    static func temporary(in folder: URL = FileManager.default.temporaryDirectory) throws -> File {
        // 128 random bits.
        let random = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }
        let path = "\(folder.path(percentEncoded: false))/URLConfig-\(random.joined(separator: "-"))"
        return try attempt(.cannotCreateFile, "a temporary file cannot be created") {
            let file = try File(path, O_RDWR | O_APPEND | O_CREAT | O_EXCL, mode: 0o600, isTemporary: true)
            #if canImport(FoundationNetworking)
            try remove(path)
            #endif
            return file
        }
    }

    func status() throws(POSIXError) -> Status {
        var status = stat()
        _ = try Self.call { fstat(descriptor, &status) }
        return Status(status)
    }

    /// Whether a path still leads to this file.
    func hasName(_ path: String) -> Bool {
        guard let own = try? status(), let found = try? Status(path) else { return false }
        return own.isSameFile(as: found)
    }

    /// When the file was created, in nanoseconds; `nil` if the file system does not know it.
    func birth() -> Int64? {
        #if canImport(Darwin)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        return Int64(status.st_birthtimespec.tv_sec) &* 1_000_000_000 &+ Int64(status.st_birthtimespec.tv_nsec)
        #else
        // Swift does not import statx(2). The kernel has 256 bytes for its result, with the time at 80, and at the
        // beginning the fields that are valid: STATX_BTIME is 0x800. AT_EMPTY_PATH is 0x1000.
        typealias Call = @convention(c) (Int32, UnsafePointer<CChar>, Int32, UInt32, UnsafeMutableRawPointer) -> Int32
        guard let symbol = dlsym(nil, "statx") else { return nil }
        var words = [UInt64](repeating: 0, count: 32)
        let result = unsafeBitCast(symbol, to: Call.self)(descriptor, "", 0x1000, 0x800, &words)
        guard result == 0, UInt32(truncatingIfNeeded: words[0].littleEndian) & 0x800 != 0 else { return nil }
        return Int64(bitPattern: words[10]) &* 1_000_000_000
            &+ Int64(UInt32(truncatingIfNeeded: words[11].littleEndian))
        #endif
    }

    /// Locks the file for this object, until it is released or the process ends.
    ///
    /// - Returns: `false` if it is locked already, by this process or another one.
    func lock() throws(POSIXError) -> Bool {
        do {
            return try Self.call { flock(descriptor, LOCK_EX | LOCK_NB) } == 0
        } catch {
            guard error.code == .EWOULDBLOCK else { throw error }
            return false
        }
    }

    /// Writes all bytes, at the end of a file that was opened with `O_APPEND`.
    ///
    /// - Parameter count: It is increased by the number of bytes that were written, also before an error.
    func append(_ data: Data, count: inout Int64) throws(POSIXError) {
        var rest = data
        while !rest.isEmpty {
            // Apple platforms refuse more than 2 GB at once.
            let written = try Self.call {
                rest.prefix(1 << 30).withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            }
            guard written > 0 else { throw POSIXError(.EIO) }
            count += Int64(written)
            rest = rest.dropFirst(written)
        }
    }

    /// Reads bytes from an offset, and returns their number: 0 at the end.
    func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int64) throws(POSIXError) -> Int {
        try Self.call { pread(descriptor, bytes.baseAddress, bytes.count, off_t(offset)) }
    }

    /// Bytes from an offset, fewer if the file ends before.
    func bytes(at offset: Int64, count: Int) throws -> Data {
        var bytes = Data(count: count)
        let count = try bytes.withUnsafeMutableBytes { try read(into: $0, at: offset) }
        return bytes.prefix(count)
    }

    /// Removes the bytes after the first ones.
    func truncate(to count: Int64) throws(POSIXError) {
        guard try status().size > count else { return }
        _ = try Self.call { ftruncate(descriptor, off_t(count)) }
        // After a power failure, old bytes must not be beside the record of new ones.
        try synchronize()
    }

    /// Waits until the bytes are on the disk; errors of delayed writes are thrown here.
    func synchronize() throws(POSIXError) {
        #if canImport(Darwin)
        // Here, fsync does not wait for the disk itself. Some file systems can do no more.
        if fcntl(descriptor, F_FULLFSYNC) >= 0 { return }
        #endif
        do {
            _ = try Self.call { fsync(descriptor) }
        } catch let error where [EINVAL, ENOTSUP].contains(error.code.rawValue) {
            // The file system cannot do this.
        }
    }
}

extension File {
    /// Calls a function of the system, again if a signal interrupts it.
    ///
    /// - Throws: The reason, if the result is negative.
    static func call<Result: SignedInteger>(_ call: () -> Result) throws(POSIXError) -> Result {
        while true {
            let result = call()
            guard result < 0 else { return result }
            let code = POSIXErrorCode(rawValue: errno) ?? .EIO
            guard code == .EINTR else { throw POSIXError(code) }
        }
    }

    /// Removes a name of a file, if it exists.
    static func remove(_ path: String) throws(POSIXError) {
        do {
            _ = try call { unlink(path) }
        } catch let error where error.code == .ENOENT {
            // There is nothing to remove.
        }
    }

    /// Does something with a file; if the system refuses it, the error says what cannot be done, and why.
    ///
    /// - Parameters:
    ///   - code: The code of a `URLError`. Without one, it is a ``RequestError`` with code
    ///     ``RequestError/Code/invalidRequest``, because the caller has named a file that cannot be used.
    ///   - reason: What cannot be done, with the name of the file.
    static func attempt<Result>(
        _ code: URLError.Code?, _ reason: @autoclosure () -> String, _ work: () throws -> Result
    ) throws -> Result {
        do {
            return try work()
        } catch let error as POSIXError {
            if let code { throw URLError(code, reason(), error) }
            throw RequestError.refused(.invalidRequest, URLError.text(reason(), error), error)
        }
    }
}

extension File {
    #if canImport(FoundationNetworking)
    /// A stream of an open file from its beginning, which keeps the file open.
    private final class Stream: InputStream {
        private let file: File
        private var offset: Int64 = 0

        init(_ file: File) {
            self.file = file
            super.init(data: Data())
        }

        override var hasBytesAvailable: Bool { true }

        override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
            let bytes = UnsafeMutableRawBufferPointer(start: buffer, count: maxLength)
            guard let count = try? file.read(into: bytes, at: offset) else { return -1 }
            offset += Int64(count)
            return count
        }
    }
    #endif

    /// A stream of the content of a temporary file, which is not open yet.
    func stream() throws -> InputStream {
        #if canImport(FoundationNetworking)
        Stream(self)
        #else
        try Transport.Body.file(URL(filePath: ownName ?? "")).opened().0
        #endif
    }
}

extension URLError {
    /// An error about a file.
    ///
    /// - Parameters:
    ///   - reason: What cannot be done, with the name of the file.
    ///   - cause: The system's reason, if the system refused it.
    init(_ code: Code, _ reason: String, _ cause: POSIXError? = nil) {
        var information: [String: Any] = [NSLocalizedDescriptionKey: Self.text(reason, cause)]
        information[NSUnderlyingErrorKey] = cause
        self.init(code, userInfo: information)
    }

    fileprivate static func text(_ reason: String, _ cause: POSIXError?) -> String {
        cause.map { "\(reason): \(String(cString: strerror($0.code.rawValue)))" } ?? reason
    }
}
