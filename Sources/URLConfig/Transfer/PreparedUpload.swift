/// An upload that is ready to be sent, as often as necessary.
struct PreparedUpload: Sendable {
    /// The request with its `Content-Type`, but without the body.
    let request: URLRequest
    /// The body.
    ///
    /// It keeps the temporary file. Opening it fails if the file is not as long as it was.
    let body: Transport.Body
    /// The exact number of bytes of the body.
    let length: Int64
    private let file: TemporaryFile?

    /// Removes the temporary file, if there is one; the body cannot be opened any more.
    ///
    /// Without it, the file is removed as soon as this value and its body are released.
    func remove() { file?.remove() }

    /// - Parameter file: The file with the body, which is removed with it.
    fileprivate init(_ request: URLRequest, _ file: TemporaryFile, _ length: Int64) {
        self.request = request
        self.length = length
        self.file = file
        body = .stream(length: length) { try file.stream() }
    }

    fileprivate init(_ request: URLRequest, _ data: Data) {
        self.request = request
        body = .data(data)
        length = Int64(data.count)
        file = nil
    }

    /// - Parameter url: The file with the body, whose length must not change.
    fileprivate init(_ request: URLRequest, _ url: URL, _ length: Int64) {
        self.request = request
        self.length = length
        file = nil
        body = .stream(length: length) {
            let (stream, size) = try Transport.Body.file(url).opened()
            try RequestError.within("body") { try RegularFile.check(url.lastPathComponent, size ?? 0, wasOnce: length) }
            return stream
        }
    }
}

extension UploadSource {
    /// Checks the source, and assembles a form in a temporary file.
    ///
    /// The disk is used on another thread. If the task is cancelled, this function returns at once, and the temporary
    /// file is removed soon.
    ///
    /// - Parameters:
    ///   - request: The request without a body.
    ///   - encoder: The encoder for the JSON parts of a form.
    ///   - directory: The directory for the temporary file.
    ///   - write: Writes a piece at the end of the temporary file.
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest`` if the request or a file cannot be
    ///   sent; `URLError` with code `.cannotCreateFile` or `.cannotWriteToFile`; `CancellationError`.
    func prepared(
        for request: URLRequest, encoder: JSONEncoder = URLRequest.Config.defaultEncoder,
        in directory: URL = FileManager.default.temporaryDirectory,
        write: @escaping @Sendable (_ piece: Data, _ file: OpenFile) throws(POSIXError) -> Void = UploadSource.append
    ) async throws -> PreparedUpload {
        try Task.checkCancellation()
        let request = try typed(request)
        let isCancelled = Locked(false)
        let prepare: @Sendable () throws -> PreparedUpload
        switch self {
        case .data(let data): return PreparedUpload(request, data)
        case .file(let url): prepare = { PreparedUpload(request, url, try RegularFile(url).size) }
        case .multipart(let form):
            // Its owner may change it meanwhile.
            let encoder = encoder.copy()
            prepare = {
                let checkCancellation = {
                    if isCancelled.withLock({ $0 }) { throw CancellationError() }
                }
                try checkCancellation()
                let (file, open) = try TemporaryFile.created(in: directory)
                var length: Int64 = 0
                try form.forEachPiece(encoder) { piece in
                    try checkCancellation()
                    do throws(POSIXError) {
                        try write(piece, open)
                    } catch {
                        throw URLError(.cannotWriteToFile, "A temporary file cannot be written", error)
                    }
                    length += Int64(piece.count)
                }
                return PreparedUpload(request, file, length)
            }
        }
        let result = OneShot<PreparedUpload>()
        DispatchQueue(label: "URLConfig.upload", qos: .userInitiated).async {
            result.resolve(
                Result {
                    try RequestError.within("body", prepare)
                }.mapError { error in
                    guard var error = error as? RequestError else { return error }
                    error.request = request
                    return error
                })
        }
        return try await result.value { isCancelled.set(\.self, true) }
    }

    private static func append(_ piece: Data, to file: OpenFile) throws(POSIXError) {
        var count: Int64 = 0
        try file.append(piece, count: &count)
    }
}
