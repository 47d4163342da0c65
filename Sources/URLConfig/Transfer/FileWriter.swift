/// Writes a file, through a descriptor that it owns.
struct FileWriter: ~Copyable {
    private let descriptor: Descriptor

    init(_ descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }

    /// Writes all bytes.
    ///
    /// - Throws: `URLError` with code `.cannotWriteToFile`, such as for a full disk. Its underlying error is a
    ///   `POSIXError`.
    func append(_ bytes: UnsafeRawBufferPointer) throws(URLError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            // Darwin refuses to write 2 GB or more at once.
            let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(1 << 20))
            let count = write(descriptor.number, piece.baseAddress, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.error(count == 0 ? EIO : errno) }
            rest = rest.dropFirst(count)
        }
    }

    /// Closes the file.
    ///
    /// - Throws: `URLError` as `append` does: some file systems report only here that nothing was written.
    consuming func finish() throws(URLError) {
        let error = descriptor.closed()
        guard error == 0 else { throw Self.error(error) }
    }

    private static func error(_ error: Int32) -> URLError {
        URLError(.cannotWriteToFile, "The file cannot be written", error)
    }
}
