extension URLRequest {
    private static let refusedScheme = "unsendable-request"

    /// The URL contains the reason, in a scheme that no session loads: a copy of a request keeps nothing else.
    init(refused error: RequestError, method: String) {
        let text = "\(Self.refusedScheme):\(error.code.rawValue)?\(error.reason.percentEncoded(.unreserved))"
        self.init(url: URL(string: text) ?? URL(fileURLWithPath: "/"))
        httpMethod = method
    }

    /// The error of ``init(refused:method:)``.
    var refusal: RequestError? {
        guard let url, url.scheme == Self.refusedScheme else { return nil }
        let parts = url.absoluteString.dropFirst(Self.refusedScheme.count + 1).split(separator: "?", maxSplits: 1)
        // Only letters: a caller may have appended a path to the URL.
        let code = parts.first?.prefix(while: \.isLetter) ?? ""
        return .refused(parts.last?.removingPercentEncoding ?? "", code: .init(rawValue: String(code)))
    }

    /// Refuses requests that no session should send: those that could not be built, and invalid ones made by hand.
    ///
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidURL`` or ``RequestError/Code/invalidRequest``.
    func checkSendable() throws(RequestError) {
        do throws(RequestError) {
            let scheme = url?.scheme
            if scheme == Self.refusedScheme, let refusal { throw refusal }
            try checkURL(scheme)
            // A line break in the method would be sent, and start another field or request.
            guard HTTPRequest.Method(rawValue: httpMethod ?? "GET") != nil else {
                throw .refused("the method is not a token (RFC 9110 §9.1)")
            }
            if httpBodyStream != nil || httpBody?.isEmpty == false {
                try Self.checkHasPlaceForBody(httpMethod ?? "GET")
            }
            for (name, value) in allHTTPHeaderFields ?? [:] {
                // Only Content-Length tells the length of a stream.
                if httpBodyStream == nil || name.lowercased() != "content-length" {
                    try Self.checkField(name, value)
                } else if Int64(digits: value) == nil {
                    throw .refused("header field \(name) is not a number of bytes; set one")
                }
            }
        } catch {
            var error = error
            error.request = self
            throw error
        }
    }

    private func checkURL(_ scheme: String?) throws(RequestError) {
        guard let url, let scheme = scheme?.lowercased(), scheme == "https" || scheme == "http",
            let host = url.host(percentEncoded: false), !host.isEmpty,
            host.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }), url.port ?? 0 <= 65535
        else { throw .refused("the URL is not http or https with a host", code: .invalidURL) }
    }

    static func checkField(_ name: String, _ value: String) throws(RequestError) {
        guard let field = HTTPField.Name(name) else {
            throw .refused("a header field's name is not a token (RFC 9110 §5.1)")
        }
        guard !value.hasControlCharacter else {
            throw .refused("header field \(name) contains a control character; remove it")
        }
        try field.checkIsForCaller()
    }

    static func checkHasPlaceForBody(_ method: String) throws(RequestError) {
        guard ["GET", "HEAD", "TRACE"].contains(method) else { return }
        throw .refused("body: \(method) cannot have one (RFC 9110 §9.3); set a method such as .post")
    }
}

extension HTTPField.Name {
    /// Stands for a name that is not a token, which `HTTPFields` cannot contain.
    static let malformed = Self("unsendable-field")!

    func checkIsForCaller() throws(RequestError) {
        // The length first, because comparing names is slow.
        switch canonicalName.utf8.count {
        case 16 where self == .malformed: try URLRequest.checkField("", "")
        case 4 where canonicalName == "host", 14 where self == .contentLength, 17 where self == .transferEncoding:
            throw .refused("header field \(rawName) is set by the session, from URL and body; remove it")
        default: break
        }
    }
}
