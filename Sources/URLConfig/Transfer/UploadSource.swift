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
    func typed(_ request: URLRequest) throws(RequestError) -> URLRequest {
        try request.checkSendable()
        do throws(RequestError) {
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
        } catch {
            var error = error
            error.request = request
            throw error
        }
    }

    private func contentType(insteadOf given: String?) throws(RequestError) -> MediaType {
        switch self {
        case .data: .octetStream
        case .file(let url): MediaType(fileExtension: url.pathExtension) ?? .octetStream
        case .multipart(let form): try form.contentType(insteadOf: given)
        }
    }
}
