extension Problem: Decodable {
    private enum Member: String, CodingKey, CaseIterable {
        case type, title, status, detail, instance
    }

    /// A problem from an object that has at least one of the five members, so that it is not taken for one by chance.
    ///
    /// ``DataResponse/problem`` and `response.decode(Problem.self)` know more: extensions, the URL that type and instance are
    /// relative to, and the status of the response.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Member.self)
        guard Member.allCases.contains(where: members.contains) else { throw Self.none(at: decoder.codingPath) }
        func text(_ member: Member) -> String? { try? members.decode(String.self, forKey: member) }
        self.init(
            type: text(.type) ?? "about:blank", title: text(.title),
            status: (try? members.decode(Int.self, forKey: .status)).flatMap(HTTPResponse.Status.init(problem:)),
            detail: text(.detail), instance: text(.instance).flatMap { URL(reference: $0, relativeTo: nil) })
    }

    /// A problem from a content of any type; `nil` if that does not look like one.
    init?(unlabelled response: DataResponse) {
        guard let json = response.problemObject, Member.allCases.contains(where: { json.hasMember($0.rawValue) }) else {
            return nil
        }
        self.init(json, in: response)
    }

    private static func none(at path: [any CodingKey]) -> DecodingError {
        .dataCorrupted(.init(codingPath: path, debugDescription: "no member of problem details (RFC 9457)"))
    }
}

extension MediaType {
    /// `application/problem+json` (RFC 9457 §6.1).
    public static let problem: Self = "application/problem+json"
}

extension DataResponse {
    /// What went wrong, if the server says so in `application/problem+json`, whatever the status (RFC 9457).
    ///
    /// `nil` for other content types, and for a content that is no JSON object or longer than any problem, 500 kB. For problems
    /// that come as another type there is `decode(Problem.self)`.
    public var problem: Problem? {
        guard hasContentType(.problem) else { return nil }
        return problemObject.map { Problem($0, in: self) }
    }

    /// The content as the object of a problem.
    fileprivate var problemObject: JSONTokenizer? {
        guard data.count <= DecodingDiagnosis.limit else { return nil }
        var json = JSONTokenizer(data)
        json.check()
        return json[json.root] == UInt8(ascii: "{") && json.fault == nil ? json : nil
    }
}
