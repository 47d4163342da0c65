extension Transport {
    /// The body of a request.
    public enum Body: Sendable {
        /// Bytes in memory.
        case data(Data)
        /// The content of the regular file at this URL.
        case file(URL)
        /// A stream.
        ///
        /// - Parameters:
        ///   - length: The number of bytes; `nil` if unknown. Then the body is sent in chunks.
        ///   - open: Creates the stream without opening it. It is called each time that the request is sent.
        case stream(length: Int64?, open: @Sendable () throws -> InputStream)

        /// A stream of the body that is not open yet, and its length in bytes.
        ///
        /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest`` if there is no regular file that
        ///   can be read, or if the stream has already been read; the errors of `open`.
        func opened() throws -> (InputStream, length: Int64?) {
            switch self {
            case .data(let data): return (InputStream(data: data), Int64(data.count))
            case .file(let url):
                let size = try RequestError.within("body") { try RegularFile(url).size }
                guard let stream = InputStream(url: url) else {
                    throw RequestError.refused(
                        .invalidRequest, "body: the file '\(url.lastPathComponent)' cannot be read")
                }
                return (stream, size)
            case .stream(let length, let open):
                let stream = try open()
                try stream.checkIsUnread()
                return (stream, length.flatMap { $0 < 0 ? nil : $0 })
            }
        }
    }
}

extension InputStream {
    /// The rest of a stream that has been read is empty, and would be sent as the whole body.
    func checkIsUnread() throws {
        guard type(of: self) == InputStream.self, [.atEnd, .closed].contains(streamStatus) else { return }
        throw RequestError.refused(.invalidRequest, "body: the stream has already been read; make a new one")
    }
}
