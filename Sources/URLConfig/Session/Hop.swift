/// What is sent next, and how the call came to that.
struct Hop {
    /// The request, without what the authenticator puts on it.
    var request: URLRequest
    /// The host that the call began with, whose budget pays for retries.
    let host: String
    /// Whether a redirect has led to another origin: no credentials are sent from there on.
    var isForeign = false
    /// The response to the server's last challenge and the origin that it is for.
    var credential: (URLCredential, Origin)?
    var challenges = 0
    var redirects = 0
    /// Whether the request has been sent again because a kept connection was lost.
    var isRepeated = false
    var attempts = 1
    var hasNewCredentials = false

    func reasonForNoCredentials(_ authenticator: (any Authenticator)?) -> String? {
        guard authenticator == nil, request.value(forHTTPHeaderField: "Authorization") == nil else { return nil }
        return "the request has no Authorization, and the call has no authenticator"
    }
}
