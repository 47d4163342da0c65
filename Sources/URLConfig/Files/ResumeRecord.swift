/// Describes the part of a download for a later run.
///
/// It contains no secrets, and shows that the library has made the part, whose name nobody else can know.
struct ResumeRecord: Codable, Hashable, Sendable {
    /// The beginning of each record.
    private static let mark = Data("URLConfig download 3\n".utf8)
    private static let longest = 4096

    /// The key of the digests.
    private let key: Digest.Key
    /// The random end of the part's name.
    let part: String
    /// The digest of the request; `nil` if a later run cannot continue it.
    private(set) var request: Digest?
    /// Who has requested it.
    private(set) var requester: Digest?
    /// The version of the file on the server; `nil` if the bytes of the part cannot be used.
    private(set) var validator: StrongValidator?
    /// The length of the whole file in bytes, if it is known.
    private(set) var total: Int64?

    /// Describes an empty part with a new name.
    init() {
        key = Digest.Key()
        part = String(UInt64.random(in: .min ... .max), radix: 36)
    }

    /// Reads a record; `nil` if there is none, or if it was not written to its end.
    ///
    /// - Parameter foreign: The error if somebody else has made the file.
    init?(_ file: File, orThrow foreign: @autoclosure () -> any Error) throws {
        let data = try file.bytes(at: 0, count: Self.longest)
        guard data.starts(with: Self.mark.prefix(data.count)) else { throw foreign() }
        // A longer record may have been there before.
        let line = data.dropFirst(Self.mark.count).prefix { $0 != UInt8(ascii: "\n") }
        guard let record = try? JSONDecoder().decode(Self.self, from: line), record.isValid else { return nil }
        self = record
    }

    /// Another program may have changed the file.
    private var isValid: Bool {
        !part.isEmpty && part.utf8.allSatisfy(\.isAlphanumeric) && validator?.isValid ?? true && total ?? 0 >= 0
    }

    /// Replaces the record in a file, and waits until it is on the disk.
    func write(to file: File) throws { try file.overwrite(Self.mark + JSONEncoder().encode(self) + [0x0A]) }

    /// Whether the bytes of the part may be used for a request.
    func isUsable(for request: URLRequest, size: Int64) -> Bool {
        validator != nil && self.request == request.digest(key) && size <= total ?? .max
    }

    /// Forgets what the bytes of the part are.
    mutating func forget() { (validator, total) = (nil, nil) }

    /// The part has the beginning of a file now.
    ///
    /// - Parameters:
    ///   - validator: The version of the file; without it, a later run begins from the start.
    ///   - requester: Who has requested it last.
    mutating func describe(
        _ request: URLRequest, by requester: Requester, _ validator: StrongValidator?, total: Int64?
    ) {
        self.request = request.digest(key)
        self.requester = requester.digest(key)
        (self.validator, self.total) = (self.request == nil ? nil : validator, total)
    }

    func belongs(to requester: Requester) -> Bool { self.requester == requester.digest(key) }
}

extension URLRequest {
    /// The digest of its URL and of the fields that choose one of several representations (RFC 9110 §12.5).
    ///
    /// `nil` if ranges are not defined for its method (RFC 9110 §14.2).
    fileprivate func digest(_ key: Digest.Key) -> Digest? {
        guard httpMethod ?? "GET" == "GET", let url else { return nil }
        let fields = ["Accept", "Accept-Language"].map { value(forHTTPHeaderField: $0) ?? "" }
        return Digest(([url.normalized] + fields).joined(separator: "\n"), key: key)
    }
}

/// Who asks for a file: the credentials of a request as it is sent.
///
/// A server may have another file for another user, and call it by the same version.
struct Requester: Sendable {
    /// It contains secrets.
    private let text: String

    /// - Parameters:
    ///   - request: The request, with the fields of the session and of the authenticator.
    ///   - usesQuery: Whether the query, which may contain a secret, belongs to the credentials.
    init(_ request: URLRequest, _ redaction: Redaction = .standard, usesQuery: Bool = true) {
        let url = request.url
        let parts = [url?.user(), url?.password(), usesQuery ? url?.query() : nil]
        let fields = (request.allHTTPHeaderFields ?? [:])
            .filter { redaction.tellsRequester($0.key) || Self.namesUser($0.key) }
        let lines = fields.map { "\($0.key.lowercased()): \($0.value)" }.sorted()
        text = (parts.map { $0 ?? "" } + lines).joined(separator: "\n")
    }

    /// Whether a service may say with this field for whom it asks, such as `X-User-ID` or `X-UserId`.
    private static func namesUser(_ field: String) -> Bool {
        let name = field.lowercased()
        guard !["user-agent", "x-user-agent"].contains(name) else { return false }
        return name.split(separator: "-").contains { part in wordsOfUsers.contains { part.hasPrefix($0) } }
    }

    private static let wordsOfUsers = [
        "user", "account", "tenant", "customer", "member", "subject", "identity", "impersonate",
    ]

    /// Somebody with a name.
    init(named name: String) { text = "named\n" + name }

    func digest(_ key: Digest.Key) -> Digest { Digest(text, key: key) }
}
