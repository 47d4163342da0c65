/// A file that only this user can read, and that is removed with this object.
final class TemporaryFile: Sendable {
    /// Where the file is: its name has 128 random bits.
    let url: URL
    private let path: String

    /// Creates an empty file.
    ///
    /// - Returns: The file, and a descriptor to write it.
    /// - Throws: `URLError` with code `.cannotCreateFile`. Its underlying error is a `POSIXError`.
    static func created(in directory: URL) throws(URLError) -> (file: TemporaryFile, descriptor: Int32) {
        let random = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }
        let url = directory.appending(
            component: "URLConfig-\(random.joined(separator: "-"))", directoryHint: .notDirectory)
        let path = url.withUnsafeFileSystemRepresentation { $0.map { String(cString: $0) } }
        guard let path else { throw .cannotCreate(ENOENT) }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR)
        guard descriptor >= 0 else { throw .cannotCreate(errno) }
        return (TemporaryFile(url, path), descriptor)
    }

    private init(_ url: URL, _ path: String) {
        self.url = url
        self.path = path
    }

    /// Removes the file.
    func remove() { unlink(path) }

    deinit { remove() }
}

extension URLError {
    fileprivate static func cannotCreate(_ error: Int32) -> Self {
        URLError(.cannotCreateFile, "A temporary file cannot be created", error)
    }
}
