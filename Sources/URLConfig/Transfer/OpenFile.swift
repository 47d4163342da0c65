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

    /// At most so many bytes from the start of a small file.
    func prefix(_ length: Int) throws(POSIXError) -> Data {
        var bytes = [UInt8](repeating: 0, count: length)
        let count = try POSIXError.call {
            bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        }
        return Data(bytes.prefix(count))
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
        do {
            _ = try POSIXError.call { fsync(descriptor) }
        } catch let error where [EINVAL, ENOTSUP].contains(error.code.rawValue) {
            // The file system cannot do this.
        }
    }
}
