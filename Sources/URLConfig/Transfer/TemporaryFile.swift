/// A file that only this user can read, and that is removed with this object.
///
/// On Linux it has no name, so that nothing remains if the process is killed. On Apple platforms it keeps its name,
/// because Foundation reads streams of files by their names.
final class TemporaryFile: Sendable {
    /// `nil` after it was removed.
    private let file: Locked<OpenFile?>
    private let path: String

    /// Creates an empty file, for a moment with a name that has 128 random bits.
    ///
    /// - Returns: The file, and the open file to write it.
    /// - Throws: `URLError` with code `.cannotCreateFile`. Its underlying error is a `POSIXError`.
    static func created(in directory: URL) throws(URLError) -> (file: TemporaryFile, open: OpenFile) {
        let random = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }
        let url = directory.appending(
            component: "URLConfig-\(random.joined(separator: "-"))", directoryHint: .notDirectory)
        let path = url.withUnsafeFileSystemRepresentation { $0.map { String(cString: $0) } }
        do throws(POSIXError) {
            guard let path else { throw POSIXError(.ENOENT) }
            let open = try OpenFile(path, O_RDWR | O_APPEND | O_CREAT | O_EXCL, mode: 0o600)
            #if canImport(FoundationNetworking)
            unlink(path)
            #endif
            return (TemporaryFile(open, path), open)
        } catch {
            throw URLError(.cannotCreateFile, "A temporary file cannot be created", error)
        }
    }

    private init(_ file: OpenFile, _ path: String) {
        self.file = Locked(file)
        self.path = path
    }

    /// A stream of the content, which is not open yet.
    ///
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest`` if the file was removed.
    func stream() throws -> InputStream {
        guard let file = file.withLock({ $0 }) else {
            throw RequestError.refused(.invalidRequest, "body: the form was removed after it was sent")
        }
        #if canImport(FoundationNetworking)
        return FileStream(file)
        #else
        _ = file
        return try Transport.Body.file(URL(filePath: path)).opened().0
        #endif
    }

    /// Removes the file.
    func remove() {
        file.set(\.self, nil)
        #if !canImport(FoundationNetworking)
        unlink(path)
        #endif
    }

    deinit { remove() }
}

#if canImport(FoundationNetworking)

/// A stream of an open file from its beginning, which keeps the file open.
private final class FileStream: InputStream {
    private let file: OpenFile
    private var offset: Int64 = 0

    init(_ file: OpenFile) {
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
