/// A file that only this user can read, and that is removed with this object.
final class TemporaryFile: Sendable {
    /// Where the file is: its name has 128 random bits.
    let url: URL
    private let path: String

    /// Creates an empty file.
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
            let open = try OpenFile(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL, mode: 0o600)
            return (TemporaryFile(url, path), open)
        } catch {
            throw URLError(.cannotCreateFile, "A temporary file cannot be created", error)
        }
    }

    private init(_ url: URL, _ path: String) {
        self.url = url
        self.path = path
    }

    /// Removes the file.
    func remove() { unlink(path) }

    deinit { remove() }
}
