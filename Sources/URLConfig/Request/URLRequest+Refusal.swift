extension URLRequest {
    private static let refusedScheme = "unsendable-request"

    /// A request that cannot be sent, which carries the reason in its URL: a value type has no other place that every
    /// copy of it keeps, and no session loads such a scheme.
    init(refused error: RequestError, method: String) {
        let reason = error.reason.percentEncoded(.unreserved)
        let url = URL(string: "\(Self.refusedScheme):\(error.code.rawValue)?\(reason)")
        self.init(url: url ?? URL(fileURLWithPath: "/"))
        httpMethod = method
    }

    /// Why this request cannot be sent, if it came from a configuration that cannot be built.
    var refusal: RequestError? {
        guard let url, url.scheme == Self.refusedScheme else { return nil }
        let parts = url.absoluteString.dropFirst(Self.refusedScheme.count + 1).split(separator: "?", maxSplits: 1)
        // Letters only: a caller may have appended to the path of what it took for a URL.
        let code = parts.first?.prefix(while: \.isLetter) ?? ""
        return .refused(.init(rawValue: String(code)), parts.last?.removingPercentEncoding ?? "")
    }

    /// Refuses what no session should send: a request that could not be built, or one made or changed by hand.
    ///
    /// - Throws: ``RequestError`` with stage ``RequestError/Stage/building``.
    func checkSendable() throws(RequestError) {
        if let refusal { throw refusal.with(self) }
        do throws(RequestError) {
            guard let url, let scheme = url.scheme?.lowercased(), scheme == "https" || scheme == "http",
                let host = url.host(percentEncoded: false), !host.isEmpty,
                host.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }), url.port ?? 0 <= 65535
            else {
                throw .refused(.invalidURL, "the URL is not one of http or https with a host")
            }
            if url.host(percentEncoded: true)?.utf8.contains(UInt8(ascii: ":")) == true, let invalidReason = URL.invalidReasonOfIPv6 {
                throw .refused(.invalidURL, "the URL \(invalidReason)")
            }
            // A line break here would reach the wire as it is, and start a field or a request of its own.
            guard HTTPRequest.Method(rawValue: httpMethod ?? "GET") != nil else {
                throw .refused(.invalidMethod, "the method is no token (RFC 9110 §9.1)")
            }
            if httpBodyStream != nil || httpBody?.isEmpty == false {
                try Self.checkHasPlaceForBody(httpMethod ?? "GET")
            }
            for (name, value) in allHTTPHeaderFields ?? [:] {
                // With a stream, Content-Length is the only way to say how long it is.
                let isStreamLength = httpBodyStream != nil && name.lowercased() == "content-length"
                guard isStreamLength else {
                    try Self.checkField(name, value)
                    continue
                }
                guard value.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }), Int64(value) != nil
                else {
                    throw .refused(
                        .invalidHeaderField, "header field \(name) is not a number of bytes, in digits; set one")
                }
            }
        } catch {
            throw error.with(self)
        }
    }

    /// Refuses a field that cannot be sent, or that is the session's to set.
    static func checkField(_ name: String, _ value: String) throws(RequestError) {
        guard HTTPField.Name(name) != nil else {
            throw .refused(.invalidHeaderField, "a header field's name is no token (RFC 9110 §5.1)")
        }
        guard !value.hasControlCharacter else { throw .controlCharacter(in: name) }
        guard !["content-length", "transfer-encoding", "host"].contains(name.lowercased()) else {
            throw .framingField(name)
        }
    }

    static func checkHasPlaceForBody(_ method: String) throws(RequestError) {
        guard ["GET", "HEAD", "TRACE"].contains(method) else { return }
        throw .refused(.invalidBody, "body: \(method) has no place for one (RFC 9110 §9.3); set method, such as .post")
    }
}

extension RequestError {
    static func framingField(_ name: String) -> Self {
        .refused(.invalidHeaderField, "header field \(name) is the session's to set, from URL and body; remove it")
    }

    static func controlCharacter(in name: String) -> Self {
        .refused(.invalidHeaderField, "header field \(name) contains a control character; remove that")
    }

    fileprivate func with(_ request: URLRequest) -> Self {
        var error = self
        error.request = request
        return error
    }
}

extension String {
    /// Whether it cannot be the value of a field (RFC 9110 §5.5).
    var hasControlCharacter: Bool { utf8.contains { $0 < 0x20 && $0 != UInt8(ascii: "\t") || $0 == 0x7F } }
}
