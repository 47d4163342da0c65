/// The body of an upload.
///
/// ```swift
/// var form = MultipartForm()
/// form.append("title", "Holiday")
/// form.append("film", file: film)
/// let source = UploadSource.multipart(form)
/// ```
public struct UploadSource: Sendable {
    private enum Content {
        case data(Data)
        case file(URL)
        case multipart(MultipartForm)
        case sequence(ResponseBody, length: Int64?)
    }

    /// The most bytes in which secrets are looked for.
    private static let mostText = 1 << 20

    private let content: Content

    /// Bytes in memory.
    ///
    /// If the request has no `Content-Type`, `application/octet-stream` is sent.
    public static func data(_ data: Data) -> Self { Self(content: .data(data)) }

    /// The content of a file, read while it is sent.
    ///
    /// Only a regular file can be sent, and it must not be changed until the call ends. If the request has no
    /// `Content-Type`, the file's extension decides, or else `application/octet-stream` is sent.
    public static func file(_ file: URL) -> Self { Self(content: .file(file)) }

    /// A form as `multipart/form-data` (RFC 7578).
    ///
    /// It is assembled in a temporary file, so that its files need no memory. The file is removed after the upload. A
    /// `Content-Type` in the request is an error (``RequestError/Code/invalidRequest``): it has no boundary.
    public static func multipart(_ form: MultipartForm) -> Self { Self(content: .multipart(form)) }

    /// Pieces that arrive while they are sent, for example the body of another response.
    ///
    /// ```swift
    /// let film = try await URLSession.shared.stream(for: request).validated()
    /// try await URLSession.shared.upload(.sequence(film.chunks), for: copy)
    /// ```
    ///
    /// - The pieces are sent once. After they were read, the request is not retried, and a redirect that needs them
    ///   again is an error (``RequestError/Code/refusedRedirect``).
    /// - The next piece is asked for when there is room for it, so memory is bounded.
    /// - ``Transport/urlSession`` cannot wait for pieces. It writes them to a temporary file, and begins to send after
    ///   the last one.
    /// - If no piece arrives for as long as the request's ``Foundation/URLRequest/Config/timeout``, the call throws
    ///   `URLError(.timedOut)`.
    /// - If the sequence throws, the call throws its error, and the server receives no complete request.
    /// - The sequence ends with the call.
    /// - If the request has no `Content-Type`, `application/octet-stream` is sent.
    ///
    /// - Parameters:
    ///   - pieces: The pieces.
    ///   - length: The number of bytes of all pieces; any other number is an error
    ///     (``RequestError/Code/invalidRequest``). `nil` or a negative number, such as
    ///     `NSURLSessionTransferSizeUnknown`, if it is unknown.
    public static func sequence<Pieces: AsyncSequence & Sendable>(_ pieces: Pieces, length: Int64? = nil) -> Self
    where Pieces.Element == Data {
        Self(content: .sequence(ResponseBody(pieces), length: length))
    }
}

/// An upload that is ready to be sent, as often as necessary.
struct PreparedUpload: Sendable {
    /// The request with its `Content-Type`, but without the body.
    let request: URLRequest
    /// The body, which keeps the temporary file; it cannot be opened if the file was changed.
    let body: Transport.Body
    /// The number of bytes of the body; `nil` if it is unknown.
    let length: Int64?
    /// The text of a body that the request cannot contain, whose secrets are hidden: of a form without its files, or of
    /// a file with JSON, a form or plain text; at most 1 MiB.
    var text: Data?
    /// Removes the temporary file, or ends the pieces, if there are any; the body cannot be opened any more.
    ///
    /// Without it, the file is removed as soon as this value and its body are released.
    var remove: @Sendable () -> Void = {}
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
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest`` if the request or a file cannot be
    ///   sent; `URLError` with code `.cannotCreateFile` or `.cannotWriteToFile`; `CancellationError`.
    func prepared(
        for request: URLRequest, encoder: JSONEncoder = URLRequest.Config.defaultEncoder,
        in directory: URL = FileManager.default.temporaryDirectory
    ) async throws -> PreparedUpload {
        try Task.checkCancellation()
        let isCancelled = Locked(false)
        let result = OneShot<PreparedUpload>()
        do {
            let request = try typed(request)
            // Its owner may change it at any time.
            let encoder = encoder.copy()
            DispatchQueue(label: "URLConfig.upload", qos: .ofFiles).async {
                result.resolve(
                    Result {
                        try RequestError.within("body") {
                            try prepared(request, encoder, directory) {
                                if isCancelled.withLock(\.self) { throw CancellationError() }
                            }
                        }
                    })
            }
            return try await result.value { isCancelled.set(\.self, true) }
        } catch var error as RequestError {
            error.request = error.request ?? request
            throw error
        }
    }

    /// The request with the `Content-Type` of this source.
    ///
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest`` if the request has a body, a method
    ///   without one, or, for a form, a `Content-Type`; and if it cannot be sent.
    private func typed(_ request: URLRequest) throws(RequestError) -> URLRequest {
        try request.checkSendable()
        try URLRequest.checkHasPlaceForBody(request.httpMethod ?? "GET")
        guard request.httpBodyStream == nil, request.httpBody?.isEmpty != false else {
            throw .refused("body: the request already has one; remove it, because the upload is the body")
        }
        let given = request.value(forHTTPHeaderField: "Content-Type")
        let type: MediaType
        switch content {
        case .data, .sequence: type = .octetStream
        case .file(let url): type = MediaType(fileExtension: url.pathExtension) ?? .octetStream
        case .multipart(let form): type = try form.contentType(insteadOf: given)
        }
        var request = request
        if given == nil { request.setValue(type.description, forHTTPHeaderField: "Content-Type") }
        return request
    }

    private func prepared(
        _ request: URLRequest, _ encoder: JSONEncoder, _ directory: URL, checkCancellation: () throws -> Void
    ) throws -> PreparedUpload {
        switch content {
        case .data(let data): return PreparedUpload(request: request, body: .data(data), length: Int64(data.count))
        case .file(let url):
            // The file is closed until it is sent: many uploads may wait.
            let version = try RegularFile(url).version
            let length = version.size
            let body = Transport.Body.stream(length: length) {
                try RequestError.within("body") { try RegularFile(url).check(isStill: version) }
                return try Transport.Body.file(url).opened().0
            }
            var text = Data()
            if length <= Self.mostText, SecretFinder.Format(request.contentType, []) != nil {
                // If its size changes, sending it is an error.
                try? RegularFile(url).forEachPiece { text.append($0) }
            }
            return PreparedUpload(request: request, body: body, length: length, text: text)
        case .multipart(let form):
            try checkCancellation()
            let file = try File.temporary(in: directory)
            var (length, text) = (0 as Int64, Data())
            try form.forEachPiece(encoder) { piece, isOfFile in
                try checkCancellation()
                try file.appendTemporarily(piece, count: &length)
                if !isOfFile { text.append(piece.prefix(Self.mostText - text.count)) }
            }
            let kept = Locked<File?>(file)
            let body = Transport.Body.stream(length: length) {
                if let file = kept.withLock(\.self) { return try file.stream() }
                throw RequestError.refused("body: the form was removed after it was sent")
            }
            return PreparedUpload(request: request, body: body, length: length, text: text) { kept.set(\.self, nil) }
        case .sequence(let source, var length):
            if let known = length, known < 0 { length = nil }
            let pieces = try source.claimed()
            return PreparedUpload(request: request, body: .sequence(pieces, length: length), length: length) {
                pieces.received.cancel()
            }
        }
    }
}

extension URLSession {
    /// Sends a request with a body that may be large: data, a file, a form with files, or pieces that still arrive.
    ///
    /// ```swift
    /// let request = URLRequest.with(.api) { ($0.method, $0.path) = (.put, "/films/\(id)") }
    /// let response = try await URLSession.shared.upload(.file(film), for: request) {
    ///     $0.progress = { print($0.bytesSent, "of", $0.totalBytesToSend ?? 0) }
    /// }
    /// ```
    ///
    /// Files are read while they are sent and need little memory. The call takes the steps of `response(for:)`; retries
    /// and redirects send the same body again. The request's `timeout` is the longest time without a byte, not the time
    /// of the whole attempt.
    ///
    /// - Parameters:
    ///   - source: The body. Its `Content-Type` is used if the request has none.
    ///   - request: The request without a body, with a method such as `POST` or `PUT`.
    ///   - config: The preset, by default the one of the request's host or else ``Config/default``.
    ///   - fileID: The source file for the log.
    ///   - line: The source line for the log.
    ///   - configure: Makes changes for this call.
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest`` if a file is missing, is not a regular
    ///   file, or is changed; `URLError` with code `.cannotWriteToFile` or `.cannotCreateFile` if the form cannot
    ///   be assembled; and the errors of `response(for:)`.
    @discardableResult
    public nonisolated(nonsending) func upload(
        _ source: UploadSource, for request: URLRequest, config: Config? = nil, fileID: String = #fileID,
        line: UInt = #line, _ configure: (inout Config) -> Void = { _ in }
    ) async throws -> DataResponse {
        try await call(for: request, config, fileID, line, configure, upload: source).response(for: request)
    }
}
