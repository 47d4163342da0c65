/// What a call knows to be secret: the values under hidden names in the requests that it has sent.
///
/// They are collected when something is shown, and not before: until then, there are only the requests. At most
/// ``most`` values are collected, and none from a body of more than ``longestBody`` bytes.
final class KnownSecrets: Sendable, CustomReflectable {
    private struct State {
        /// Those whose values have not been collected yet.
        var requests: [URLRequest]
        weak var session: URLSession?
        var values: [[UInt8]] = []
        var matcher = SecretMatcher([])
    }

    private static let most = 128
    private static let longestBody = 1 << 20

    private let state: Locked<State>

    /// - Parameter session: Its additional header fields and cookies are secrets, too.
    init(_ request: URLRequest? = nil, session: URLSession? = nil) {
        state = Locked(State(requests: request.map { [$0] } ?? [], session: session))
    }

    /// Nothing: `dump` must not see secrets.
    var customMirror: Mirror { Mirror(self, children: []) }

    func add(_ request: URLRequest) {
        state.withLock { $0.requests.append(request) }
    }

    /// Credentials that were sent for a challenge.
    func add(user: String?, password: String?) {
        var request = URLRequest(url: URL(fileURLWithPath: "/"))
        let pair = Data("\(user ?? ""):\(password ?? "")".utf8).base64EncodedString()
        request.setValue("Basic \(pair)", forHTTPHeaderField: "Authorization")
        add(request)
    }

    /// What finds the secrets of all requests until now.
    func matcher(_ redaction: Redaction) -> SecretMatcher {
        state.withLock { state in
            guard !state.requests.isEmpty else { return state.matcher }
            var collector = Collector(redaction: redaction.knowing(KnownSecrets()), values: state.values)
            for request in state.requests { collector.add(request, state.session?.configuration) }
            (state.requests, state.values, state.matcher) = ([], collector.values, SecretMatcher(collector.values))
            return state.matcher
        }
    }

    private struct Collector {
        let redaction: Redaction
        var values: [[UInt8]]

        mutating func add(_ request: URLRequest, _ configuration: URLSessionConfiguration?) {
            for (name, value) in request.allHTTPHeaderFields ?? [:] { add(field: name, value) }
            for case let (name as String, value as String) in configuration?.httpAdditionalHeaders ?? [:] {
                add(field: name, value)
            }
            guard let url = request.url else { return }
            let cookies = configuration?.httpCookieStorage?.cookies(for: url)?.map(\.value) ?? []
            let userinfo = [url.user(percentEncoded: false), url.password(percentEncoded: false)].compactMap { $0 }
            for value in cookies + userinfo { add(value.utf8) }
            add(secretsOf: Array(url.absoluteString.utf8), .text)
            guard let body = request.httpBody, body.count <= KnownSecrets.longestBody else { return }
            let type = request.value(forHTTPHeaderField: "Content-Type").flatMap { MediaType($0) }
            let text = type?.parameters["charset"].flatMap { body.text(charset: $0) }
            add(secretsOf: text.map { Array($0.utf8) } ?? Array(body), type)
        }

        private mutating func add(secretsOf text: [UInt8], _ type: MediaType?) {
            for (_, value) in SecretFinder(text, type, redaction, hasNames: true).secrets { add(value) }
        }

        private mutating func add(field name: String, _ value: String) {
            guard redaction.hides(name) else { return add(secretsOf: Array(value.utf8), .text) }
            add(value.utf8)
            // Credentials after their scheme, parameters, cookies.
            for part in value.split(whereSeparator: { " ,;".contains($0) })
            where !Self.schemes.contains(part.lowercased()) {
                let mark = part.dropLast(2).firstIndex(of: "=")
                let value = mark.map { part[part.index(after: $0)...] } ?? part
                add(value.utf8)
                // Basic: a user name that is short and has no digits is a name, and not a key.
                let pair = Data(base64Encoded: String(value))?.split(separator: UInt8(ascii: ":"), maxSplits: 1) ?? []
                let isKey = pair.count == 2 && (pair[0].count >= 16 || pair[0].contains(where: \.isDigit))
                for part in pair.dropFirst(isKey ? 0 : 1) { add(part) }
            }
        }

        private static let schemes: Set = ["basic", "bearer", "digest", "token", "apikey"]

        private mutating func add(_ value: some BidirectionalCollection<UInt8>) {
            let isDelimiter = { (byte: UInt8) in " \t\r\n\"'&;?#".utf8.contains(byte) }
            guard let start = value.firstIndex(where: { !isDelimiter($0) }),
                let end = value.lastIndex(where: { !isDelimiter($0) })
            else { return }
            let value = Array(value[start...end])
            guard value.count >= SecretMatcher.shortest, values.count < KnownSecrets.most, !values.contains(value),
                !["true", "false", "null", Redaction.mask].contains(where: { $0.utf8.elementsEqual(value) })
            else { return }
            values.append(value)
        }
    }
}
