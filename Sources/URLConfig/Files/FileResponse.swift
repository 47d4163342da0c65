/// A file that was downloaded.
public struct FileResponse: Sendable {
    private let response: DataResponse
    /// Where the file is: the target of the download.
    public let file: URL
    /// The length of the whole file in bytes, with what earlier runs have downloaded.
    public let byteCount: Int64
    /// The time from the call until the file was in place.
    public let duration: Duration
    /// All requests of the download, redirects and retries included; the last one received the end of the file.
    public let attempts: [Attempt]

    init(_ response: DataResponse, file: URL, byteCount: Int64, duration: Duration, attempts: [Attempt]) {
        self.response = response
        self.file = file
        self.byteCount = byteCount
        self.duration = duration
        self.attempts = attempts
    }

    /// The last request as it was sent, credentials included.
    public var request: URLRequest { response.request }
    /// The URL of the last response, after redirects.
    public var url: URL? { response.url }
    /// The status of the last response: 206 if it completed a part, otherwise 200 or 203 (RFC 9110 §15.3).
    public var status: HTTPResponse.Status { response.status }
    /// The header fields of the last response; after a 206, `Content-Length` is not that of the file.
    public var headerFields: HTTPFields { response.headerFields }
}

extension FileResponse: CustomStringConvertible, RedactedReflectable {
    /// The status, the request, and the size and name of the file; secrets are hidden.
    ///
    /// For example `200 GET https://example.com/film.mp4, 1.2 GB in film.mp4`.
    public var description: String {
        let content = "\(Int(clamping: byteCount).shownAsBytes) in \(file.lastPathComponent.onOneLine)"
        return "\(status.code) \(request.summary(response.shownRedaction)), \(content)"
    }

    var shownChildren: [(String, Any?)] {
        response.shownChildren.filter { !["data", "duration", "attempts"].contains($0.0) } + [
            ("file", file.lastPathComponent.onOneLine), ("byteCount", byteCount), ("duration", duration),
            ("attempts", attempts),
        ]
    }
}
