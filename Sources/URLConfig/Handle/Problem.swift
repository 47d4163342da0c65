/// The machine-readable error of an API: problem details (RFC 9457).
///
/// ```swift
/// if let problem = response.problem {
///     if problem.type == "https://example.com/probs/out-of-credit" { show(balance: problem["balance", as: Int.self]) }
///     throw problem
/// }
/// ```
///
/// `$0.validators = [.orThrow(Problem.self)]` throws the problems of every call. A member of a wrong type is ignored
/// (§3.1).
public struct Problem: Error, Sendable {
    /// The URL that identifies the kind of problem, absolute if the response has a URL; by default `about:blank`.
    public var type: String
    /// A short description of the kind of problem.
    public var title: String?
    /// The status in the content, or else the status of the response.
    public var status: HTTPResponse.Status?
    /// A description of this occurrence of the problem.
    public var detail: String?
    /// The absolute URL that identifies this occurrence.
    public var instance: URL?
    /// The response with the members, which are decoded only when they are read: there may be millions.
    private(set) var response: DataResponse?

    /// Creates a problem, such as in a test; the parameters are the properties of the same names.
    public init(
        type: String = "about:blank", title: String? = nil, status: HTTPResponse.Status? = nil, detail: String? = nil,
        instance: URL? = nil
    ) {
        self.type = type
        self.title = title
        self.status = status
        self.detail = detail
        self.instance = instance
    }

    /// A member as the server sent it: an extension (RFC 9457 §3.2) or one of the five standard members.
    ///
    /// ```swift
    /// let accounts: [String]? = problem["accounts"]
    /// ```
    ///
    /// It is `nil` if the member is missing or has another type. The decoder of the problem decodes it, or
    /// else, if that does not read JSON, a `JSONDecoder`.
    ///
    /// - Parameters:
    ///   - name: The name of the member.
    ///   - type: The type of the value; by default what the context expects.
    public subscript<Value: Decodable>(name: String, as type: Value.Type = Value.self) -> Value? {
        guard let response else { return nil }
        let json = JSONTokenizer(response.data)
        guard let start = json.member(JSONKey(stringValue: name), of: json.root).exact?.value else { return nil }
        let member = Data(json.value(at: start))
        if let value = try? response.ownDecoder.decode(type, from: member) { return value }
        // The content is JSON, whatever the decoder of the call reads.
        return response.ownDecoder is JSONDecoder ? nil : try? JSONDecoder().decode(type, from: member)
    }
}

extension Problem: Decodable {
    /// The response whose whole content is a problem.
    private static let response = CodingUserInfoKey(rawValue: "URLConfig.Problem.response")

    /// Decodes an object that has at least one of the five standard members.
    ///
    /// ``DataResponse/problem`` and `response.decode(Problem.self)` also read extensions, resolve type and instance
    /// against the URL of the response, and use its status.
    public init(from decoder: any Decoder) throws {
        let response = Self.response.flatMap { decoder.userInfo[$0] } as? DataResponse
        let members = try decoder.container(keyedBy: JSONKey.self)
        let names: [JSONKey] = ["type", "title", "status", "detail", "instance"]
        guard names.contains(where: members.contains) || response?.hasContentType(.problem) == true else {
            let words = "no member of problem details (RFC 9457)"
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: words))
        }
        func text(_ name: JSONKey) -> String? { try? members.decode(String.self, forKey: name) }
        func url(_ text: String) -> URL? { URL(reference: text, relativeTo: response?.url) }
        let type = text("type") ?? "about:blank"
        let code = (try? members.decode(Int.self, forKey: "status")).flatMap { 100..<600 ~= $0 ? $0 : nil }
        self.init(
            type: response.flatMap { _ in url(type)?.absoluteString } ?? type, title: text("title"),
            status: code.map { HTTPResponse.Status(code: $0) } ?? response?.status, detail: text("detail"),
            instance: text("instance").flatMap(url))
        self.response = response
    }

    /// Decodes the content of a response; `nil` if it is not a problem.
    ///
    /// - Parameter decoder: The decoder of members; `nil` for the decoder of the response.
    init?(_ response: DataResponse, _ decoder: (any ResponseDecoder)? = nil) {
        guard let key = Self.response else { return nil }
        var response = response
        response.decoder = decoder ?? response.decoder
        let json = JSONDecoder()
        json.userInfo[key] = response
        guard let problem = try? json.decode(Self.self, from: response.data) else { return nil }
        self = problem
    }
}

extension DataResponse {
    /// The problem in the content, if the content type is `application/problem+json`, whatever the status (RFC 9457).
    ///
    /// It is `nil` if the content is not a JSON object, or longer than 500 kB. `decode(Problem.self)` reads problems of
    /// other content types.
    public var problem: Problem? {
        hasContentType(.problem) && data.count <= DecodingDiagnosis.limit ? Problem(self) : nil
    }
}

extension Problem: ExplainedError, RedactedDescribable {
    /// The status, title, detail, type and instance on one line.
    var shownText: String {
        let redaction = response?.shownRedaction ?? URLSession.Config.default.redaction
        let words = [title ?? status?.reasonPhrase, detail].compactMap { $0 }.filter { !$0.isEmpty }
        let text = words.reduce("") { text, words in
            let gap = text.isEmpty ? "" : ".!?".contains(text.suffix(1)) ? " " : ": "
            return text + gap + redaction.quote(words)
        }
        let isBlank = type.hasBytes(of: "about:blank")
        let names = [isBlank ? nil : type, instance?.absoluteString]
            .compactMap { $0.map(redaction.quote(url:)) }
        let parts = [status.map { "\($0.code)" }, text.isEmpty ? "problem" : text]
        let line = parts.compactMap { $0 }.joined(separator: " ")
        // The server's text must not look like further lines of a log.
        return redaction.maskedByValue(line + (names.isEmpty ? "" : " (\(names.joined(separator: ", ")))")).onOneLine
    }

    var explanation: String { description }
}
