/// An open file, which is closed and unlocked when this is released.
///
/// Its functions throw a ``SystemError``, which ``attempt(_:_:_:)`` turns into the error for a caller.
final class File: Sendable {
    /// The kind, the size and the identity of a file.
    struct Status: Sendable {
        private let status: stat

        init(_ status: stat) { self.status = status }

        /// The status of the file with a name; a symbolic link is not followed by default.
        init(_ path: String, followsLinks: Bool = false) throws(SystemError) {
            var status = stat()
            _ = try File.call { followsLinks ? stat(path, &status) : lstat(path, &status) }
            self.init(status)
        }

        var isRegular: Bool { status.st_mode & S_IFMT == S_IFREG }
        var isDirectory: Bool { status.st_mode & S_IFMT == S_IFDIR }
        var isLink: Bool { status.st_mode & S_IFMT == S_IFLNK }
        /// Whether this user is its owner.
        var isOwn: Bool { status.st_uid == geteuid() }
        /// In bytes.
        var size: Int64 { Int64(status.st_size) }
        /// When the content was changed, in nanoseconds since 1970.
        var modified: Int64 {
            #if canImport(Darwin)
            let time = status.st_mtimespec
            #else
            let time = status.st_mtim
            #endif
            // Seconds and nanoseconds: the members of `timespec` cannot be imported in a release build on Linux.
            return withUnsafeBytes(of: time) {
                Int64($0.load(as: Int.self)) &* 1_000_000_000
                    &+ Int64($0.load(fromByteOffset: MemoryLayout<Int>.size, as: Int.self))
            }
        }

        /// Whether it is a file of this user with one name.
        ///
        /// In a folder that all users may write to, somebody else may have put it there, even as a second name of
        /// another file, which would be changed.
        var isOwnFile: Bool { isRegular && status.st_nlink == 1 && isOwn }

        /// Whether it has lost its last name.
        var isRemoved: Bool { status.st_nlink == 0 }

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
    ) throws(SystemError) {
        // Opening a named pipe would block without O_NONBLOCK, which has no effect on files.
        let flags = flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (followsLinks ? 0 : O_NOFOLLOW)
        descriptor = try Self.call { open(path, flags, mode) }
        ownName = isTemporary ? path : nil
    }

    deinit {
        if let ownName { unlink(ownName) }
        // A process that another thread is just starting also has the descriptor, so closing it may not unlock the
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
        let path = "\(folder.path(percentEncoded: false))/URLConfig-\(UUID().uuidString)"
        return try attempt(.cannotCreateFile, "a temporary file cannot be created") {
            let file = try File(path, O_RDWR | O_APPEND | O_CREAT | O_EXCL, mode: 0o600, isTemporary: true)
            #if canImport(FoundationNetworking)
            try remove(path)
            #endif
            return file
        }
    }

    func status() throws(SystemError) -> Status {
        var status = stat()
        _ = try Self.call { fstat(descriptor, &status) }
        return Status(status)
    }

    /// Whether a path still leads to this file.
    func hasName(_ path: String) -> Bool {
        guard let own = try? status(), let found = try? Status(path) else { return false }
        return own.isSameFile(as: found)
    }

    /// Locks the file for this object, until it is released or the process ends.
    ///
    /// - Returns: `false` if it is locked already, by this process or another one.
    func lock() throws(SystemError) -> Bool {
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
        guard errno == EWOULDBLOCK else { throw SystemError(code: errno) }
        return false
    }

    /// Writes all bytes, at the end of a file that was opened with `O_APPEND`.
    ///
    /// - Parameter count: It is increased by the number of bytes that were written, including those before an error.
    func append(_ data: Data, count: inout Int64) throws(SystemError) {
        var rest = data
        while !rest.isEmpty {
            // Apple platforms refuse more than 2 GB at once.
            let written = try Self.call {
                rest.prefix(1 << 30).withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            }
            guard written > 0 else { throw SystemError(code: EIO) }
            count += Int64(written)
            rest = rest.dropFirst(written)
        }
    }

    /// Appends bytes to a temporary file.
    ///
    /// - Throws: `URLError` with code `.cannotWriteToFile`, for example if the disk is full.
    func appendTemporarily(_ data: Data, count: inout Int64) throws {
        try Self.attempt(.cannotWriteToFile, "a temporary file cannot be written") { try append(data, count: &count) }
    }

    /// Writes bytes at the beginning of the file in one step, and waits until they are on the disk.
    func overwrite(_ data: Data) throws(SystemError) {
        let written = try Self.call { data.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) } }
        guard written == data.count else { throw SystemError(code: EIO) }
        try synchronize()
    }

    /// Reads bytes from an offset, and returns their number: 0 at the end.
    func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int64) throws(SystemError) -> Int {
        try Self.call { pread(descriptor, bytes.baseAddress, bytes.count, off_t(offset)) }
    }

    /// Bytes from an offset, fewer if the file ends before.
    func bytes(at offset: Int64, count: Int) throws -> Data {
        var bytes = Data(count: count)
        let count = try bytes.withUnsafeMutableBytes { try read(into: $0, at: offset) }
        return bytes.prefix(count)
    }

    /// Removes the bytes after the first ones.
    func truncate(to count: Int64) throws(SystemError) {
        guard try status().size > count else { return }
        _ = try Self.call { ftruncate(descriptor, off_t(count)) }
        // After a power failure, old bytes must not be beside the record of new ones.
        try synchronize()
    }

    /// Waits until the bytes are on the disk; errors of delayed writes are thrown here.
    func synchronize() throws(SystemError) {
        #if canImport(Darwin)
        // Here, fsync does not wait for the disk itself. Some file systems can do no more.
        if fcntl(descriptor, F_FULLFSYNC) >= 0 { return }
        #endif
        do {
            _ = try Self.call { fsync(descriptor) }
        } catch  where [EINVAL, ENOTSUP].contains(error.code) {
            // The file system cannot do this.
        }
    }
}

/// Why the system refused something.
///
/// It is much less machine code than a `POSIXError`, which callers of the library receive.
struct SystemError: Error, Equatable {
    /// Such as `ENOENT`.
    let code: Int32
}

extension File {
    /// Calls a function of the system, again if a signal interrupts it.
    ///
    /// - Throws: The reason, if the result is negative.
    static func call<Result: SignedInteger>(_ call: () -> Result) throws(SystemError) -> Result {
        while true {
            let result = call()
            guard result < 0 else { return result }
            let code = errno
            guard code == EINTR else { throw SystemError(code: code) }
        }
    }

    /// Removes a name of a file, if it exists.
    static func remove(_ path: String) throws(SystemError) {
        do {
            _ = try call { unlink(path) }
        } catch  where error.code == ENOENT {
            // There is nothing to remove.
        }
    }

    /// The names in a folder.
    ///
    /// A path that does not exist, or that is a file or a symbolic link, has no names.
    static func names(in folder: String) throws(SystemError) -> [String] {
        guard (try? Status(folder))?.isDirectory == true else { return [] }
        do {
            return try FileManager.default.contentsOfDirectory(atPath: folder)
        } catch {
            // It may have been removed meanwhile.
            guard (try? Status(folder)) != nil else { return [] }
            let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? POSIXError
            throw SystemError(code: cause?.code.rawValue ?? EIO)
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
        } catch let error as SystemError {
            let cause = POSIXError(POSIXErrorCode(rawValue: error.code) ?? .EIO)
            let reason = "\(reason()): \(String(cString: strerror(error.code)))"
            guard let code else { throw RequestError(.invalidRequest, reason: reason, underlyingError: cause) }
            throw URLError(code, reason, cause: cause)
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
