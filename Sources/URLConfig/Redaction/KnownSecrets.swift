/// The secrets of a call: the values under hidden names in the requests that it has sent.
///
/// They are collected when something is shown: at most 128 values from URLs and bodies, at most 1,024 in all, and none
/// from a body of more than 1 MiB.
final class KnownSecrets: Sendable, RedactedReflectable {
    private let state: Locked<State>

    /// - Parameter session: Its additional header fields and its cookies are collected, too.
    init(_ request: URLRequest? = nil, session: URLSession? = nil) {
        state = Locked(State(requests: request.map { [$0] } ?? [], session: session))
    }

    /// The number of requests that were searched for secrets: none, as long as nothing is shown.
    var searched: Int { state.withLock(\.searched) }

    /// `dump` must not see secrets.
    var shownChildren: [(String, Any?)] { [] }

    func add(_ request: URLRequest) {
        var request = request
        // A response would keep the file open.
        if request.httpBodyStream != nil { request.httpBodyStream = nil }
        state.withLock { $0.requests.append(request) }
    }

    /// Finds the secrets of all requests that were added.
    func matcher(_ redaction: Redaction) -> SecretMatcher {
        // The lock is not held: the cookie storage may be a class of the app.
        var state = state.withLock { $0 }
        guard state.searched < state.requests.count else { return state.matcher }
        let redaction = redaction.knowing(KnownSecrets())
        for request in state.requests[state.searched...] { state.collect(request, redaction) }
        (state.searched, state.matcher) = (state.requests.count, SecretMatcher(state.values))
        self.state.withLock { [state] now in
            (now.values, now.searched, now.matcher) = (state.values, state.searched, state.matcher)
        }
        return state.matcher
    }

    private struct State {
        var requests: [URLRequest]
        weak var session: URLSession?
        var values: [[UInt8]] = []
        /// The number of requests whose values were collected.
        var searched = 0
        var matcher = SecretMatcher([])

        mutating func collect(_ request: URLRequest, _ redaction: Redaction) {
            let configuration = session?.configuration
            for (name, value) in request.allHTTPHeaderFields ?? [:] { collect(field: name, value, redaction) }
            for case let (name as String, value as String) in configuration?.httpAdditionalHeaders ?? [:] {
                collect(field: name, value, redaction)
            }
            guard let url = request.url else { return }
            for cookie in configuration?.httpCookieStorage?.cookies(for: url) ?? [] { add(cookie.value.utf8) }
            for case let part? in [url.user(percentEncoded: false), url.password(percentEncoded: false)] {
                add(part.utf8)
            }
            collect(Array(url.absoluteString.utf8), .text, redaction)
            guard let body = request.httpBody, body.count <= 1 << 20 else { return }
            let text = request.contentType?.charset.flatMap { body.text(charset: $0) }
            collect(text.map { Array($0.utf8) } ?? Array(body), request.contentType, redaction)
        }

        private mutating func collect(_ text: [UInt8], _ type: MediaType?, _ redaction: Redaction) {
            for (_, value) in SecretFinder(text, type, redaction, hasNames: true).secrets { add(value) }
        }

        private mutating func collect(field name: String, _ value: String, _ redaction: Redaction) {
            guard redaction.hides(name) else { return collect(Array(value.utf8), .text, redaction) }
            add(value.utf8, most: 1024)
            // Credentials after their scheme, parameters and cookies. Ordinary words are not collected: they would be
            // masked everywhere.
            let parts = value.split(whereSeparator: { " ,;".contains($0) })
            for (index, part) in parts.enumerated() where !Self.schemes.contains(part.lowercased()) {
                let mark = part.dropLast(2).firstIndex(of: "=")
                let name = mark.map { String(part[..<$0]) }
                let isCredential = name.map { redaction.hides($0) } ?? (index < 2)
                let value = mark.map { part[part.index(after: $0)...] } ?? part
                let isOpaque = value.count >= 16 || value.count >= 6 && value.contains(where: \.isNumber)
                guard isCredential || isOpaque, !Self.parameters.contains(name?.lowercased() ?? "") else { continue }
                add(value.utf8, most: 1024)
                // Basic credentials: the password, and a user name that may be a key.
                let pair = Data(base64Encoded: String(value))?.split(separator: UInt8(ascii: ":"), maxSplits: 1) ?? []
                for (index, part) in pair.enumerated()
                where index == 1 || part.count >= 16 || part.contains(where: \.isDigit) {
                    add(part, most: 1024)
                }
            }
        }

        private static let schemes: Set = [
            "basic", "bearer", "digest", "token", "apikey", "oauth", "hawk", "aws4-hmac-sha256",
        ]
        /// Parameters of credentials that are not secret, such as those of Digest and OAuth 1.
        private static let parameters: Set = [
            "algorithm", "oauth_signature_method", "oauth_timestamp", "qop", "realm", "signedheaders", "uri",
            "username",
        ]

        private mutating func add(_ value: some BidirectionalCollection<UInt8>, most: Int = 128) {
            let isPart = { (byte: UInt8) in !" \t\r\n\"'&;?#".utf8.contains(byte) }
            guard let start = value.firstIndex(where: isPart), let end = value.lastIndex(where: isPart) else { return }
            let value = Array(value[start...end])
            guard value.count >= SecretMatcher.shortest, values.count < most, !values.contains(value),
                !["true", "false", "null", Redaction.mask].contains(where: { $0.utf8.elementsEqual(value) })
            else { return }
            values.append(value)
        }
    }
}
