/// A regular file that is open for reading.
///
/// Nothing else is opened: a pipe would block, and a device may never end.
struct RegularFile: ~Copyable {
    /// The bytes that are read at once.
    private static let pieceSize = 1 << 18

    /// The number of bytes when the file was opened.
    let size: Int64
    private let name: String
    private let descriptor: Descriptor

    /// Opens a file.
    ///
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest`` if there is no regular file at this URL
    ///   that can be read, or if it is longer than its size, as in `/proc`. The reason contains only the file's name.
    init(_ url: URL) throws(RequestError) {
        let name = url.lastPathComponent
        let path = url.withUnsafeFileSystemRepresentation { $0.map { String(cString: $0) } }
        // Foundation's functions do not agree on where a path that contains NUL ends.
        guard url.isFileURL, let path, !url.path(percentEncoded: false).utf8.contains(0) else {
            throw .refused(.invalidRequest, "the URL of '\(name)' is not that of a file")
        }
        var status = stat()
        guard stat(path, &status) == 0 else { throw Self.cannotBeRead(name, errno) }
        try Self.checkIsRegular(name, status)
        // A pipe that has just taken the place of the file would block without O_NONBLOCK.
        let descriptor = Descriptor(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY))
        guard descriptor.number >= 0, fstat(descriptor.number, &status) == 0 else {
            throw Self.cannotBeRead(name, errno)
        }
        try Self.checkIsRegular(name, status)
        var next: UInt8 = 0
        let more = pread(descriptor.number, &next, 1, status.st_size)
        guard more >= 0 else { throw Self.cannotBeRead(name, errno) }
        try Self.check(name, Int64(status.st_size) + Int64(more), wasOnce: Int64(status.st_size))
        size = Int64(status.st_size)
        self.name = name
        self.descriptor = descriptor
    }

    /// Passes the content to a function, in pieces that are valid during the call.
    ///
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest`` if the file cannot be read, or if it is
    ///   not as long as it was when it was opened; the errors of the function.
    func forEachPiece(_ use: (UnsafeRawBufferPointer) throws -> Void) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceSize, alignment: 16)
        defer { buffer.deallocate() }
        var count: Int64 = 0
        while true {
            let piece = read(descriptor.number, buffer.baseAddress, buffer.count)
            if piece < 0, errno == EINTR { continue }
            guard piece >= 0 else { throw Self.cannotBeRead(name, errno) }
            count += Int64(piece)
            // A file that grows all the time would never end.
            guard piece > 0, count <= size else { break }
            try use(UnsafeRawBufferPointer(rebasing: buffer[..<piece]))
        }
        try Self.check(name, count, wasOnce: size)
    }

    /// Checks that a file is as long as it was.
    static func check(_ name: String, _ size: Int64, wasOnce former: Int64) throws(RequestError) {
        guard size != former else { return }
        let now = size > former ? "more" : "\(size)"
        throw .refused(
            .invalidRequest, "the file '\(name)' had \(former) bytes, but now it has \(now); send a copy of it")
    }

    private static func checkIsRegular(_ name: String, _ status: stat) throws(RequestError) {
        let kind = status.st_mode & S_IFMT
        guard kind != S_IFREG else { return }
        let reason = kind == S_IFDIR ? "is a directory" : "is not a regular file"
        throw .refused(.invalidRequest, "'\(name)' \(reason); only a regular file can be sent")
    }

    private static func cannotBeRead(_ name: String, _ error: Int32) -> RequestError {
        .refused(.invalidRequest, "the file '\(name)' cannot be read: \(POSIXError.reason(error))", POSIXError(error))
    }
}

extension RequestError {
    /// Runs a function; the reasons of its errors of this type begin with a place.
    static func within<Result: ~Copyable>(_ place: String, _ work: () throws -> Result) throws -> Result {
        do {
            return try work()
        } catch var error as Self {
            error.reason = "\(place): \(error.reason)"
            throw error
        }
    }
}
