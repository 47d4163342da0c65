/// What an upload sends.
///
/// ```swift
/// var form = MultipartForm()
/// form.append("title", "Holiday")
/// form.append("film", file: film)
/// let source = UploadSource.multipart(form)
/// ```
public enum UploadSource: Sendable {
    /// Bytes in memory.
    ///
    /// If the request has no `Content-Type`, `application/octet-stream` is sent.
    case data(Data)
    /// The content of a file, read while it is sent.
    ///
    /// Only a regular file can be sent, and its size must not change meanwhile. If the request has no `Content-Type`,
    /// it is that of the file's extension, or `application/octet-stream`.
    case file(URL)
    /// A form as `multipart/form-data` (RFC 7578).
    ///
    /// It is assembled in a temporary file, so that its files need no memory. The file is removed after the upload. A
    /// `Content-Type` in the request is an error (``RequestError/Code/invalidRequest``): it has no boundary.
    case multipart(MultipartForm)
}

extension UploadSource {
    /// The request with the `Content-Type` of this source.
    ///
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest`` if the request has a body, if its
    ///   method has no place for one, or if its `Content-Type` cannot be that of a form; and for a request that
    ///   cannot be sent.
    private func typed(_ request: URLRequest) throws(RequestError) -> URLRequest {
        try request.checkSendable()
        try URLRequest.checkHasPlaceForBody(request.httpMethod ?? "GET")
        guard request.httpBodyStream == nil, request.httpBody?.isEmpty != false else {
            throw .refused(
                .invalidRequest, "body: the request already has one; remove it, because the upload is the body")
        }
        let given = request.value(forHTTPHeaderField: "Content-Type")
        let type = try contentType(insteadOf: given)
        var request = request
        if given == nil { request.setValue(type.description, forHTTPHeaderField: "Content-Type") }
        return request
    }

    private func contentType(insteadOf given: String?) throws(RequestError) -> MediaType {
        switch self {
        case .data: .octetStream
        case .file(let url): MediaType(fileExtension: url.pathExtension) ?? .octetStream
        case .multipart(let form): try form.contentType(insteadOf: given)
        }
    }
}

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
    /// The temporary file with a form.
    fileprivate var form: Locked<File?>?

    /// Removes the temporary file, if there is one; the body cannot be opened any more.
    ///
    /// Without it, the file is removed as soon as this value and its body are released.
    func remove() { form?.set(\.self, nil) }
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
        do {
            return try await prepared(typed(request), encoder, directory)
        } catch var error as RequestError {
            error.request = error.request ?? request
            throw error
        }
    }

    private func prepared(
        _ request: URLRequest, _ encoder: JSONEncoder, _ directory: URL
    ) async throws -> PreparedUpload {
        let isCancelled = Locked(false)
        let prepare: @Sendable () throws -> PreparedUpload
        switch self {
        case .data(let data):
            return PreparedUpload(request: request, body: .data(data), length: Int64(data.count))
        case .file(let url):
            prepare = { try .file(url, request) }
        case .multipart(let form):
            // Its owner may change it meanwhile.
            let encoder = encoder.copy()
            prepare = {
                try .form(form, request, encoder, directory) {
                    if isCancelled.withLock(\.self) { throw CancellationError() }
                }
            }
        }
        let result = OneShot<PreparedUpload>()
        DispatchQueue(label: "URLConfig.upload", qos: .userInitiated).async {
            result.resolve(Result { try RequestError.within("body", prepare) })
        }
        return try await result.value { isCancelled.set(\.self, true) }
    }
}

extension PreparedUpload {
    fileprivate static func file(_ url: URL, _ request: URLRequest) throws -> Self {
        let length = try RegularFile(url).size
        let body = Transport.Body.stream(length: length) {
            let (stream, size) = try Transport.Body.file(url).opened()
            try RequestError.within("body") { try RegularFile.check(url.lastPathComponent, size ?? 0, wasOnce: length) }
            return stream
        }
        return Self(request: request, body: body, length: length)
    }

    fileprivate static func form(
        _ form: MultipartForm, _ request: URLRequest, _ encoder: JSONEncoder, _ directory: URL,
        checkCancellation: () throws -> Void
    ) throws -> Self {
        try checkCancellation()
        let file = try File.temporary(in: directory)
        var length: Int64 = 0
        try form.forEachPiece(encoder) { piece in
            try checkCancellation()
            try File.attempt(.cannotWriteToFile, "a temporary file cannot be written") {
                try file.append(piece, count: &length)
            }
        }
        let kept = Locked<File?>(file)
        let body = Transport.Body.stream(length: length) {
            if let file = kept.withLock(\.self) { return try file.stream() }
            throw RequestError.refused(.invalidRequest, "body: the form was removed after it was sent")
        }
        return Self(request: request, body: body, length: length, form: kept)
    }
}
