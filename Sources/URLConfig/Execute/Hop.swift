/// The next request of a call, and what the call has done so far.
struct Hop {
    /// The request before it is authorized.
    var request: URLRequest
    /// The body that the request itself cannot contain; `nil` for none.
    var body: Transport.Body?
    /// The host of the first request, whose budget limits the retries.
    let host: String
    /// Whether a redirect or a link to the next page has left the origin; from then on, no credentials are sent.
    var isForeign: Bool
    /// The last request to the first URL as it was sent.
    var firstSent: URLRequest?
    var redirects = 0
    /// Whether the request was sent again because a reused connection was lost.
    var isRepeated = false
    var attempts = 1
    var hasNewCredentials = false

    init(request: URLRequest, isForeign: Bool = false) {
        self.request = request
        self.isForeign = isForeign
        host = request.url?.host()?.lowercased() ?? ""
    }

    /// Whether the body can be opened again: not a stream that the caller has opened once, and no pieces that were sent.
    var canBeSentAgain: Bool {
        if case .sequence(let pieces, _) = body, !pieces.canBeRead { return false }
        return request.httpBodyStream == nil
    }
}
