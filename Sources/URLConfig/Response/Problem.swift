/// What went wrong, as an API says it in a machine-readable way: problem details (RFC 9457).
///
/// ```swift
/// if let problem = response.problem {
///     if problem.type == "https://example.com/probs/out-of-credit" { show(balance: problem["balance", as: Int.self]) }
///     throw problem
/// }
/// ```
///
/// Or for every call: `$0.validators = [.success(orThrow: Problem.self)]`. A member of a type that the RFC does not give it is
/// taken as missing (§3.1).
public struct Problem: Error, Sendable {
    /// What kind of problem it is: the URL that identifies it, absolute if the response has a URL; at first `about:blank`.
    public var type: String
    /// What kind of problem it is, in words: the same each time.
    public var title: String?
    /// The status that the server gave it; that of the response if it names none.
    public var status: HTTPResponse.Status?
    /// What is wrong this time, in words.
    public var detail: String?
    /// What identifies this occurrence: an absolute URL.
    public var instance: URL?
    /// The object that it was read from, in which members are looked up: a hostile one may have millions.
    private var json: JSONTokenizer?
    /// What the description hides.
    private var redaction: Redaction?

    /// A problem, such as a test makes.
    ///
    /// - Parameters:
    ///   - type: The URL that identifies the kind of problem.
    ///   - title: The kind in words.
    ///   - status: The status.
    ///   - detail: What is wrong, in words.
    ///   - instance: What identifies this occurrence.
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

    /// A problem from its object.
    init(_ json: JSONTokenizer, in response: DataResponse) {
        let (type, instance) = (json["type", as: String.self], json["instance", as: String.self])
        self.init(
            type: type.map { URL(reference: $0, relativeTo: response.url)?.absoluteString ?? $0 } ?? "about:blank",
            title: json["title"],
            status: json["status", as: Int.self].flatMap(HTTPResponse.Status.init(problem:)) ?? response.status,
            detail: json["detail"], instance: instance.flatMap { URL(reference: $0, relativeTo: response.url) })
        self.json = json
        redaction = response.redaction
    }

    /// A member as the server sent it, an extension (RFC 9457 §3.2) or one of the five; `nil` without it, or if it is of
    /// another type.
    ///
    /// ```swift
    /// let accounts: [String]? = problem["accounts"]
    /// ```
    ///
    /// ``DataResponse/Config/defaultDecoder`` reads it.
    ///
    /// - Parameters:
    ///   - name: The name of the member.
    ///   - type: The type of the value; what the context expects if left out.
    public subscript<Value: Decodable>(name: String, as type: Value.Type = Value.self) -> Value? {
        json?[name, as: type, DataResponse.Config.defaultDecoder]
    }
}

extension Problem: CustomStringConvertible, LocalizedError {
    /// One line: status, title, detail, type and instance; secrets are hidden, and extensions left out.
    public var description: String {
        let redaction = redaction ?? URLSession.Config.default.redaction
        let words = [title ?? status?.reasonPhrase, detail].compactMap { $0 }.filter { !$0.isEmpty }
        let text = words.reduce("") { text, words in
            let gap = text.isEmpty ? "" : ".!?".contains(text.suffix(1)) ? " " : ": "
            return text + gap + redaction.quote(words)
        }
        let names = [type == "about:blank" ? nil : type, instance?.absoluteString].compactMap { $0.map(redaction.url) }
        let parts = [status.map { "\($0.code)" }, text.isEmpty ? "problem" : text]
        let line = parts.compactMap { $0 }.joined(separator: " ")
        // A server's words must not pass for lines of ours.
        return (line + (names.isEmpty ? "" : " (\(names.joined(separator: ", ")))")).onOneLine
    }

    /// The same as the description.
    public var errorDescription: String? { description }
}

extension HTTPResponse.Status {
    /// `nil` for what is no status of an answer.
    init?(problem code: Int) {
        guard 100..<600 ~= code else { return nil }
        self.init(integerLiteral: code)
    }
}

extension JSONTokenizer {
    /// Whether the outermost object has a member.
    func hasMember(_ name: String) -> Bool { member(named: name, in: root).exact != nil }

    /// The value of a member of the outermost object; `nil` without it, or if it is of another type.
    fileprivate subscript<Value: Decodable>(
        name: String, as type: Value.Type = Value.self, decoder: any ResponseDecoder = JSONDecoder()
    ) -> Value? {
        member(named: name, in: root).exact.flatMap { try? decoder.decode(type, from: Data(value(at: $0.value))) }
    }
}
