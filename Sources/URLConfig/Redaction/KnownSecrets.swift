/// The secrets of a call: the values under hidden names in the requests that it has sent.
///
/// They are collected when something is shown: at most 128 values from URLs and bodies, at most 256 in all, and none
/// from a body of more than 1 MiB. Short words are not collected: they would be hidden everywhere. A server's choice is
/// collected only if it looks like a credential: a cookie, or a URL other than the first.
final class KnownSecrets: Sendable, RedactedReflectable {
    private let state: Locked<State>

    /// - Parameters:
    ///   - session: Its additional header fields and its cookies are also collected.
    ///   - first: Secrets that are known already; the URL of their first request was not chosen by a server.
    init(_ request: URLRequest? = nil, session: URLSession? = nil, after first: KnownSecrets? = nil) {
        let earlier = first?.state.withLock(\.requests) ?? []
        state = Locked(State(requests: earlier + (request.map { [$0] } ?? []), session: session))
    }

    /// The number of requests that were searched for secrets: none, as long as nothing is shown.
    var searched: Int { state.withLock(\.searched) }

    /// `dump` must not see secrets.
    var shownChildren: [(String, Any?)] { [] }

    /// The most bytes of a body that is searched.
    private static let longestBody = 1 << 20

    /// The bodies that are kept to be searched; several requests may have the same one.
    var bodies: [Data] { state.withLock { $0.requests.compactMap(\.httpBody) } }

    func add(_ request: URLRequest) {
        var request = request
        // A response would keep the file open.
        if request.httpBodyStream != nil { request.httpBodyStream = nil }
        // It would only be kept in memory.
        if let body = request.httpBody, body.count > Self.longestBody { request.httpBody = nil }
        state.withLock { $0.requests.append(request) }
    }

    /// Adds values that servers gave, after the secrets of the requests.
    func add(received values: [[UInt8]], _ redaction: Redaction) {
        if values.isEmpty { return }
        _ = self.values(redaction)
        state.withLock { state in for value in values { state.add(opaque: value) } }
    }

    /// Adds the secrets of another call, of which none is left out.
    func add(_ secrets: SecretValues) { state.withLock { $0.secrets.formUnion(secrets) } }

    /// The secrets of all requests that were added.
    func values(_ redaction: Redaction) -> SecretValues {
        // The lock is not held: the cookie storage may be a class of the app.
        var state = state.withLock { $0 }
        guard state.searched < state.requests.count else { return state.secrets }
        let redaction = redaction.knowing(KnownSecrets())
        for request in state.requests[state.searched...] { state.collect(request, redaction) }
        state.searched = state.requests.count
        self.state.withLock { [state] now in (now.secrets, now.searched) = (state.secrets, state.searched) }
        return state.secrets
    }

    private struct State {
        var requests: [URLRequest]
        weak var session: URLSession?
        var secrets = SecretValues()
        /// The number of requests whose values were collected.
        var searched = 0

        mutating func collect(_ request: URLRequest, _ redaction: Redaction) {
            let configuration = session?.configuration
            for (name, value) in request.allHTTPHeaderFields ?? [:] { collect(field: name, value, redaction) }
            for case let (name as String, value as String) in configuration?.httpAdditionalHeaders ?? [:] {
                collect(field: name, value, redaction)
            }
            guard let url = request.url else { return }
            for cookie in configuration?.httpCookieStorage?.cookies(for: url) ?? [] { add(opaque: cookie.value.utf8) }
            for case let part? in [url.user(percentEncoded: false), url.password(percentEncoded: false)] {
                secrets.add(part.utf8)
            }
            let isChosen = url == requests.first?.url
            for value in SecretFinder(Array(url.absoluteString.utf8), .url, redaction).secrets
            where isChosen || value.isOpaque {
                secrets.add(value)
            }
            guard let body = request.httpBody, body.count <= KnownSecrets.longestBody else { return }
            let text = body.text(charset: request.contentType?.charset)
            let bytes = text.map { Array($0.utf8) } ?? Array(body)
            guard let format = SecretFinder.Format(request.contentType, bytes) else { return }
            for value in SecretFinder(bytes, format, redaction).secrets { secrets.add(value) }
        }

        private mutating func collect(field name: String, _ value: String, _ redaction: Redaction) {
            guard redaction.hides(name) else {
                for value in SecretFinder(Array(value.utf8), .text, redaction).secrets { secrets.add(value, most: 256) }
                return
            }
            // Credentials after their scheme, parameters and cookies.
            let isCookie = name.lowercased() == "cookie"
            // By bytes: to find characters takes quadratic time for combining marks.
            let parts = value.utf8.split { " ,;".utf8.contains($0) }
            if !isCookie, parts.count != 2 { secrets.add(value.utf8, most: 256) }
            let mayHaveScheme = name.lowercased().hasSuffix("authorization") && parts.count > 1
            for (index, part) in parts.enumerated() {
                let mark = part.dropLast(2).firstIndex(of: UInt8(ascii: "="))
                let isHidden = mark.map { redaction.hides(String(Substring(part[..<$0]))) } ?? true
                let text = mark.map { part[part.index(after: $0)...] } ?? part
                // A scheme, such as `Negotiate`, is no secret (RFC 9110 §11.4).
                let mayBeScheme = mayHaveScheme && index == 0 && mark == nil
                if isCookie || !isHidden || mayBeScheme { add(opaque: text) } else { secrets.add(text, most: 256) }
                // Basic credentials: the password, and a user name that may be a key.
                let pair =
                    Data(base64Encoded: String(Substring(text)))?.split(separator: UInt8(ascii: ":"), maxSplits: 1)
                    ?? []
                if let user = pair.first { add(opaque: user) }
                if pair.count == 2 { secrets.add(pair[1], most: 256) }
            }
        }

        mutating func add(opaque value: some Collection<UInt8>) {
            if value.trimmed.isOpaque { secrets.add(value, most: 256) }
        }
    }
}

/// Values that are hidden wherever they appear, as they are or with the escapes of JSON and URLs.
struct SecretValues: Sendable {
    private var values: Set<[UInt8]> = []
    private var spellings: Set<[UInt8]> = []

    mutating func add(_ value: some Collection<UInt8>, most: Int = 128) {
        let value = value.trimmed
        guard value.count >= 8 || value.count >= 6 && value.contains(where: \.isDigit), values.count < most,
            values.insert(value).inserted
        else { return }
        let text = String(decoding: value, as: UTF8.self)
        spellings.insert(value)
        // Most values have one spelling, and the others take long.
        if text.needsNoEncoding(.unreserved) { return }
        let url = text.percentEncoded(.unreserved)
        let escaped = [
            url, url.replacing(/%../) { $0.0.lowercased() }, text.percentEncoded(.form).replacing(" ", with: "+"),
        ]
        let json = Array(text.escapedForJSON.utf8)
        // By bytes: to find characters takes quadratic time for combining marks.
        spellings.formUnion(escaped.map { Array($0.utf8) } + [json, json.replacing("/".utf8, with: "\\/".utf8)])
    }

    mutating func formUnion(_ other: Self) {
        values.formUnion(other.values)
        spellings.formUnion(other.spellings)
    }

    func contains(_ value: [UInt8]) -> Bool { spellings.contains(value) }

    /// The places of the values in a text.
    func ranges(in text: [UInt8]) -> [Range<Int>] {
        spellings.flatMap { spelling in
            var (ranges, start) = ([Range<Int>](), 0)
            // Only the beginning of a long value is compared: the text may be cut, and the time stays linear.
            while let found = text.firstRange(of: spelling.prefix(64), in: start..<text.count) {
                let range = found.lowerBound..<min(found.lowerBound + spelling.count, text.count)
                // A short value between letters is a part of another word.
                let isHidden =
                    spelling.count > 12
                    || !text.continuesWord(at: range.lowerBound) && !text.continuesWord(at: range.upperBound)
                if isHidden { ranges.append(range) }
                start = isHidden ? range.upperBound : range.lowerBound + 1
            }
            return ranges
        }
    }
}

extension [UInt8] {
    /// Whether there are letters or digits on both sides of a place, which are not the end of an escape.
    fileprivate func continuesWord(at index: Int) -> Bool {
        index > 0 && index < count && self[index - 1].isAlphanumeric && self[index].isAlphanumeric
            && !self[..<index].endsWithEscape
    }
}

extension Collection<UInt8> {
    /// The value without quotes and delimiters around it.
    fileprivate var trimmed: [UInt8] {
        let isAround = { (byte: UInt8) in " \t\r\n\"'&;?#".utf8.contains(byte) }
        return [UInt8]([UInt8](drop(while: isAround)).reversed().drop(while: isAround)).reversed()
    }
}
