import URLConfig

extension HTTPStubs {
    /// A request as it was sent, with its whole body, whether that was data, a file or a stream.
    public struct Request: Sendable, CustomStringConvertible, CustomReflectable {
        /// The URL, the method and the header fields, including the session's.
        public let urlRequest: URLRequest
        /// The body; empty for none.
        public let body: Data
        /// The number of the request in its call, counted from 1; retries and redirects count.
        public let attempt: Int
        /// The decoded values of the names in the route's template, in the closure of the route; otherwise empty.
        public internal(set) var values: [String: String] = [:]
        /// Hides the secrets of the call.
        let redaction: Redaction
        /// The values that the subscripts could not return.
        var mistakes = Locked<[String]>([])

        /// The method.
        public var method: HTTPRequest.Method { HTTPRequest.Method(urlRequest.httpMethod ?? "GET") ?? .get }
        /// The URL.
        public var url: URL { urlRequest.url ?? URL(filePath: "/") }
        /// The header fields.
        public var headerFields: HTTPFields {
            HTTPFields(received: (urlRequest.allHTTPHeaderFields ?? [:]).lazy.map { ($0, $1) })
        }
        /// The media type that `Content-Type` names.
        public var contentType: MediaType? { headerFields[.contentType].flatMap { MediaType($0) } }
        /// The decoded items of the query.
        public var query: [URLQueryItem] {
            URLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems ?? []
        }
        /// The decoded items of a form (`application/x-www-form-urlencoded`); of equal names, the last.
        public var form: [String: String] {
            let pairs = String(decoding: body, as: UTF8.self).split(separator: "&").map { item in
                item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { text in
                    let spaced = text.replacingOccurrences(of: "+", with: " ")
                    return spaced.removingPercentEncoding ?? spaced
                }
            }
            return pairs.reduce(into: [:]) { $0[$1[0]] = $1.count > 1 ? $1[1] : "" }
        }

        /// The method and the URL; secrets are hidden.
        public var description: String { "\(method.rawValue) \(redaction.url(url.absoluteString))" }

        /// Shows only the ``description`` in a `dump`.
        public var customMirror: Mirror { Mirror(self, children: ["request": description]) }

        /// The value of a name in the route's template.
        ///
        /// If the template has no such name, the test fails with the route's line, and nothing is sent.
        public subscript(name: String) -> String { value(name, "text", { $0 }) ?? "" }

        /// The value of a name in the route's template as an integer.
        ///
        /// If it is none, the test fails with the route's line, and nothing is sent.
        public subscript<Integer: FixedWidthInteger>(name: String) -> Integer {
            value(name, "\(Integer.self)", { Integer($0) }) ?? 0
        }

        /// The value of a name in the route's template as a UUID.
        ///
        /// If it is none, the test fails with the route's line, and nothing is sent.
        public subscript(name: String) -> UUID { value(name, "UUID", { UUID(uuidString: $0) }) ?? UUID() }

        private func value<Value>(_ name: String, _ type: String, _ make: (String) -> Value?) -> Value? {
            let value = values[name].flatMap(make)
            if value == nil {
                let text = values[name].map { "\(hiding($0)) is no \(type)" } ?? "the template has no such name"
                mistakes.withLock { $0.append("{\(name)}: \(text)") }
            }
            return value
        }

        /// Decodes the body from JSON.
        ///
        /// - Throws: The errors of the decoder.
        public func decode<Value: Decodable>(
            _ type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()
        ) throws -> Value {
            try decoder.decode(type, from: body)
        }
    }
}

extension HTTPStubs.Request {
    /// Reads the body, once.
    ///
    /// - Returns: The request, and what another transport can send.
    static func of(
        _ sending: Transport.Request, _ attempt: Int
    ) async throws -> (request: Self, sending: Transport.Request) {
        var complete = sending.completeURLRequest
        var sending = sending
        let body = try await sending.body?.data() ?? Data()
        // A stream or a sequence that was read is empty.
        if sending.urlRequest.httpBody == nil, sending.body != nil { sending.body = .data(body) }
        if complete.httpBodyStream != nil { complete.httpBody = body }
        let request = Self(urlRequest: complete, body: body, attempt: attempt, redaction: sending.redaction)
        return (request, sending)
    }

    /// The path; values that the call knows as secrets are hidden.
    var shownPath: String {
        let path = url.path(percentEncoded: true)
        return hiding(path.isEmpty ? "/" : path)
    }

    func hiding(_ text: String) -> String { redaction.maskedByValue(text) }

    /// The name of a field or an item with its value, or that there is none.
    func shown(_ name: String, _ value: String?) -> String {
        guard let value else { return "without \(name)" }
        return redaction.hidesItem(name) ? "\(name)=***" : "\(name)=\(hiding(value))"
    }

    /// A part of a multipart form (RFC 7578).
    public struct Part: Sendable, Hashable {
        /// The name of the form's field.
        public let name: String
        /// The name of the file; `nil` for a value.
        public let filename: String?
        /// The media type; `nil` if the part has none.
        public let contentType: MediaType?
        /// The content.
        public let data: Data
        /// The content as UTF-8 text.
        public var text: String { String(decoding: data, as: UTF8.self) }
    }

    /// The parts of a multipart form (`multipart/form-data`), in order; empty if the body is none.
    public var parts: [Part] {
        guard let boundary = contentType?.parameters["boundary"], !boundary.isEmpty else { return [] }
        let (mark, gap) = (Data("--\(boundary)".utf8), Data("\r\n\r\n".utf8))
        var (parts, rest) = ([Part](), body[...])
        while let start = rest.firstRange(of: mark) {
            rest = rest[start.upperBound...]
            // The content ends with a line break that belongs to the mark.
            guard let end = rest.firstRange(of: mark), let head = rest[..<end.lowerBound].firstRange(of: gap),
                head.upperBound <= end.lowerBound - 2
            else { continue }
            var fields: [String: String] = [:]
            for line in String(decoding: rest[..<head.lowerBound], as: UTF8.self).components(separatedBy: "\r\n") {
                let pair = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
                if pair.count == 2 { fields[pair[0].lowercased()] = pair[1] }
            }
            let disposition = Self.parameters(of: fields["content-disposition"] ?? "")
            parts.append(
                Part(
                    name: disposition["name"] ?? "", filename: disposition["filename"],
                    contentType: fields["content-type"].flatMap { MediaType($0) },
                    data: Data(rest[head.upperBound..<end.lowerBound - 2])))
        }
        return parts
    }

    /// The parameters of a `Content-Disposition` field of a form (WHATWG HTML §4.10.21.8).
    private static func parameters(of disposition: String) -> [String: String] {
        // Their syntax is the one of a media type's, but a backslash is no escape.
        let text = disposition.replacingOccurrences(of: "\\", with: "\\\\", options: .literal)
        let type = MediaType("form/data" + text.drop { $0 != ";" })
        return (type?.parameters ?? [:]).mapValues { text in
            ["%22": "\"", "%0D": "\r", "%0A": "\n"].reduce(text) { text, escape in
                text.replacingOccurrences(of: escape.key, with: escape.value, options: .literal)
            }
        }
    }
}
