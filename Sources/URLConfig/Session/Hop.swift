/// The next request of a call, and what the call has done so far.
struct Hop {
    /// The request before it is authorized.
    var request: URLRequest
    /// The body that the request itself cannot contain; `nil` for none.
    var body: Transport.Body?
    /// The host of the first request, whose budget limits the retries.
    let host: String
    /// Whether a redirect or a link to the next page has left the origin; from then on, no credentials are sent.
    var isForeign = false
    /// The credential for the last challenge, and the origin that sent the challenge.
    var credential: (URLCredential, Origin)?
    /// The last request to the first URL as it was sent, with its credential for a challenge.
    var sent: (request: URLRequest, credential: URLCredential?)?
    var challenges = 0
    var redirects = 0
    /// Whether the request was sent again because a reused connection was lost.
    var isRepeated = false
    var attempts = 1
    var hasNewCredentials = false
}
