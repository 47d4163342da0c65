/// The content of a request: members of a JSON object set one by one, or a whole body.
///
/// ```swift
/// $0.body["title"] = "some-title"
/// $0.body["meta"] = ["draft": true, "tags": ["a", "b"], "none": nil]
/// $0.body = .json(article)
/// $0.body = .form(["grant_type": "password", "username": name])
/// ```
///
/// A `Content-Type` that the caller has set is never overwritten. An app adds its own kind as a static member:
///
/// ```swift
/// extension RequestBody {
///     static func propertyList(_ model: some Encodable & Sendable) -> Self {
///         Self { fields, _ in
///             fields[.contentType] = fields[.contentType] ?? "application/x-plist"
///             return try PropertyListEncoder().encode(model)
///         }
///     }
/// }
/// ```
public struct RequestBody: Sendable, ExpressibleByDictionaryLiteral {
    private enum Content {
        case members([String: (any Encodable & Sendable)?])
        case model(any Encodable & Sendable)
        case encoded(@Sendable (inout HTTPFields, JSONEncoder) throws -> Data)
    }

    private var content: Content?

    /// No body.
    public init() {}

    /// A whole body that a function makes when the request is built.
    ///
    /// - Parameter encode: Returns the bytes and sets the fields that describe them, such as `Content-Type`, with the
    ///   encoder of the configuration. What it throws is the underlying error of ``RequestError``.
    public init(
        _ encode: @escaping @Sendable (_ fields: inout HTTPFields, _ encoder: JSONEncoder) throws -> Data
    ) {
        content = .encoded(encode)
    }

    /// A JSON object; a `nil` in it is JSON's `null`.
    public init(dictionaryLiteral elements: (String, (any Encodable & Sendable)?)...) {
        content = .members(Dictionary(elements) { _, last in last })
    }

    /// A member of the JSON object that is the body; `nil` removes it.
    ///
    /// The encoder's strategy for keys leaves its name alone. A member of a whole body is refused
    /// (``RequestError/Code/invalidRequest``).
    public subscript(member: String) -> (any Encodable & Sendable)? {
        get {
            if case .members(let members) = content { members[member] ?? nil } else { nil }
        }
        set { set(member, newValue) }
    }

    /// A member from a literal that mixes types and nests; a `nil` inside it is JSON's `null`.
    @_disfavoredOverload
    public subscript(member: String) -> JSON? {
        get { self[member] as (any Encodable & Sendable)? as? JSON }
        set { set(member, newValue) }
    }

    /// A member from a literal of variables of several types; a `nil` inside it is JSON's `null`.
    @_disfavoredOverload
    public subscript(member: String) -> Object? {
        get { self[member] as (any Encodable & Sendable)? as? Object }
        set { set(member, newValue) }
    }

    private mutating func set(_ member: String, _ value: (any Encodable & Sendable)?) {
        guard case .members(var members) = content ?? .members([:]) else {
            self = Self { _, _ in
                throw Reason(
                    "member '\(member)' is set on a body that is whole already; use members only, or one whole body")
            }
            return
        }
        // Now there is one reference to the members, and to change them copies nothing.
        content = nil
        members[member] = value.map(Optional.some)
        if !members.isEmpty { content = .members(members) }
    }
}

extension RequestBody {
    /// A model as JSON, encoded with ``Foundation/URLRequest/Config/encoder`` when the request is built.
    ///
    /// - Parameter model: The model.
    public static func json(_ model: any Encodable & Sendable) -> Self {
        var body = Self()
        body.content = .model(model)
        return body
    }

    /// Items as `application/x-www-form-urlencoded` (WHATWG URL): a space is `+`.
    ///
    /// - Parameter items: The items, in order.
    public static func form(_ items: URLRequest.Query) -> Self {
        Self { fields, encoder in
            let form = try items.resolved(encoder).formEncoded
            fields.setContentType(.form)
            return Data(form.utf8)
        }
    }

    /// Text, as UTF-8.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - contentType: Its media type.
    public static func text(_ text: String, contentType: MediaType = .text) -> Self {
        .data(Data(text.utf8), contentType: contentType)
    }

    /// Bytes as they are.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - contentType: Their media type.
    public static func data(_ data: Data, contentType: MediaType = .octetStream) -> Self {
        Self { fields, _ in
            fields.setContentType(contentType)
            return data
        }
    }

    var isEmpty: Bool { content == nil }

    var model: (any Encodable & Sendable)? {
        if case .model(let model) = content { model } else { nil }
    }

    func data(fields: inout HTTPFields, encoder: @autoclosure () -> JSONEncoder) throws -> Data? {
        switch content {
        case nil:
            return nil
        case .members(let members):
            fields.setContentType(.json)
            return try encoder().encode(Object(members: members))
        case .model(let model):
            fields.setContentType(.json)
            return try encoder().encode(model)
        case .encoded(let encode):
            return try encode(&fields, encoder())
        }
    }
}

extension HTTPFields {
    mutating func setContentType(_ contentType: MediaType) {
        if !contains(.contentType) { self[.contentType] = contentType.description }
    }
}
