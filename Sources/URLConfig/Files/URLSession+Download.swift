extension URLSession {
    /// Downloads a file, or continues a download of it that was interrupted.
    ///
    /// ```swift
    /// let response = try await URLSession.shared.download(for: request, to: target) { $0.retry = .standard }
    /// print(response.byteCount)
    /// ```
    ///
    /// The bytes are written to a hidden file beside the target. When the file is whole, it is moved into place in one
    /// step. Each request takes the steps of `response(for:)`, with these differences:
    /// - If the transfer fails and ``Config/retry`` allows another attempt, only the rest is requested (RFC 9110 §14).
    ///   The count of attempts starts again when 64 kB more have arrived.
    /// - If the call fails or its task is cancelled, the part is kept, and the next call with the same request,
    ///   credentials and target continues it. For this, the server has to name the version of the file: with a strong
    ///   `ETag`, or a `Last-Modified` that is older than a minute. If the version has changed, the file is downloaded
    ///   from the start. A file is never made of two versions.
    /// - The status must be 200 or 203, or 206 for the rest of a file. The validators check the head, even of a 206.
    /// - ``Config/deadline`` limits the whole download, but the disk may need a moment longer. The request's `timeout`
    ///   is the longest time without a byte.
    /// - ``Config/responseLimit`` limits the length of the whole file, and ``Config/progress`` counts the whole file.
    /// - ``Config/fallback`` is not called, because a response is not a file.
    ///
    /// - Parameters:
    ///   - request: The request, without `Range` and `If-Range`. Only `GET` can be continued.
    ///   - target: The URL of the file. Its folder must exist. Two downloads cannot have one target at the same time.
    ///   - overwrites: Whether an existing file is replaced, when the new one is whole.
    ///   - config: The preset, by default the one of the request's host or else ``Config/default``.
    ///   - fileID: The source file for the log.
    ///   - line: The source line for the log.
    ///   - configure: Makes changes for this call.
    /// - Throws: The errors of `response(for:)`, and:
    ///   - ``RequestError/Code/invalidRequest`` if the target cannot be used, or if it exists and must not be replaced,
    ///   - ``RequestError/Code/unacceptableStatus`` if the response is not a file,
    ///   - `URLError` with code `.cannotDecodeContentData` if the file is encoded, which was not requested,
    ///   - `URLError` with code `.cannotCreateFile`, `.cannotOpenFile`, `.cannotWriteToFile` or `.cannotMoveFile` if a
    ///     file cannot be used. Its underlying error is the `POSIXError`, for example of a full disk.
    @discardableResult
    public nonisolated(nonsending) func download(
        for request: URLRequest, to target: URL, overwrites: Bool = false, config: Config? = nil,
        fileID: String = #fileID, line: UInt = #line, _ configure: (inout Config) -> Void = { _ in }
    ) async throws -> FileResponse {
        let call = call(
            for: request, config, fileID, line,
            {
                configure(&$0)
                $0.cache = nil
            }, isStream: true)
        return try await Download(call: call, request: request, target: target, overwrites: overwrites).response()
    }
}

/// A file that was downloaded; `print` shows `200 GET https://example.com/film.mp4, 1.2 GB in film.mp4`.
public struct FileResponse: Sendable {
    /// The last response without its content; after a 206, `Content-Length` is the length of the rest only.
    ///
    /// Its ``DataResponse/duration`` is the time from the call until the file was in place. Its
    /// ``DataResponse/attempts`` are all requests of the download, redirects and retries included.
    public let head: DataResponse
    /// Where the file is: the target of the download.
    public let file: URL
    /// The length of the whole file in bytes, with what earlier runs have downloaded.
    public let byteCount: Int64
}

extension FileResponse: RedactedDescribable {
    var shownText: String {
        let content = "\(Int(clamping: byteCount).shownAsBytes) in \(file.lastPathComponent.onOneLine)"
        return "\(head.status.code) \(head.request.summary(head.shownRedaction)), \(content)"
    }

    var shownChildren: [(String, Any?)] {
        head.shownChildren.filter { $0.0 != "data" } + [
            ("file", file.lastPathComponent.onOneLine), ("byteCount", byteCount),
        ]
    }
}
