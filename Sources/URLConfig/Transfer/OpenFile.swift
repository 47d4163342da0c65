/// An open file, which is closed when this is released.
final class OpenFile: Sendable {
    private let descriptor: Int32

    /// Opens a file; symbolic links are refused with `ELOOP`.
    ///
    /// - Parameter mode: The permissions of a new file, from which the umask of the process is subtracted.
    init(_ path: String, _ flags: Int32, mode: mode_t = 0o666) throws(POSIXError) {
        // Opening a named pipe would block without O_NONBLOCK, which has no effect on files.
        descriptor = try POSIXError.call { open(path, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, mode) }
    }

    deinit {
        // A process that another thread is just starting has the descriptor, too, so closing it may not unlock the
        // file.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    func status() throws(POSIXError) -> FileStatus {
        var status = stat()
        _ = try POSIXError.call { fstat(descriptor, &status) }
        return FileStatus(status)
    }

    /// Locks the file for this object, until it is released or the process ends.
    ///
    /// - Throws: `EWOULDBLOCK` if it is locked already, by this process or another one.
    func lock() throws(POSIXError) {
        _ = try POSIXError.call { flock(descriptor, LOCK_EX | LOCK_NB) }
    }

    /// Writes all bytes, at the end of a file that was opened with `O_APPEND`.
    ///
    /// - Parameter count: It is increased by the number of bytes that were written, also before an error.
    func append(_ data: Data, count: inout Int64) throws(POSIXError) {
        var rest = data
        while !rest.isEmpty {
            // Apple platforms refuse more than 2 GB at once.
            let written = try POSIXError.call {
                rest.prefix(1 << 30).withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            }
            guard written > 0 else { throw POSIXError(.EIO) }
            count += Int64(written)
            rest = rest.dropFirst(written)
        }
    }

    /// A few bytes of the file, fewer if it ends before.
    func bytes(_ range: Range<Int64>) throws -> Data {
        var bytes = [UInt8](repeating: 0, count: range.count)
        let count = try bytes.withUnsafeMutableBytes { try read(into: $0, at: range.lowerBound) }
        return Data(bytes.prefix(count))
    }

    /// Reads bytes from an offset, and returns their number: 0 at the end.
    func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int64) throws(POSIXError) -> Int {
        try POSIXError.call { pread(descriptor, bytes.baseAddress, bytes.count, off_t(offset)) }
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

    /// Removes the bytes after the first ones.
    func truncate(to count: Int64) throws(POSIXError) {
        guard try status().size > count else { return }
        _ = try POSIXError.call { ftruncate(descriptor, off_t(count)) }
        // After a power failure, old bytes must not be beside the description of new ones.
        try synchronize()
    }

    /// Waits until the bytes are on the disk; errors of delayed writes are thrown here.
    func synchronize() throws(POSIXError) {
        #if canImport(Darwin)
        // Here, fsync does not wait for the disk itself. Some file systems can do no more.
        if fcntl(descriptor, F_FULLFSYNC) >= 0 { return }
        #endif
        do {
            _ = try POSIXError.call { fsync(descriptor) }
        } catch let error where [EINVAL, ENOTSUP].contains(error.code.rawValue) {
            // The file system cannot do this.
        }
    }
}
