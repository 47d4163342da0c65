/// The body of a request: members of a JSON object, or a whole body.
///
/// ```swift
/// $0.body["title"] = "some-title"
/// $0.body["deletedAt"] = .null                                       // JSON null
/// $0.body["subtitle"] = subtitle                                     // nil leaves the member out
/// $0.body["meta"] = ["draft": true, "tags": ["a", "b"]]
/// $0.body["items"] = [["id": id, "name": name]]
/// $0.body = .json(article)
/// $0.body = .form(["grant_type": "password", "username": name])
/// ```
///
/// A `Content-Type` of the caller is never overwritten.
public struct RequestBody: Sendable, ExpressibleByDictionaryLiteral {
    private enum Content {
        case members([String: Member])
        case model(any Encodable & Sendable)
        case encoded(@Sendable (inout HTTPFields, JSONEncoder) throws -> Data)
    }

    private var content: Content?

    private init(content: Content?) { self.content = content }

    /// No body.
    public init() {}

    /// A whole body from a function that is called when the request is built.
    ///
    /// - Parameter encode: Returns the bytes and sets the fields that describe them, such as `Content-Type`. It
    ///   receives a copy of the configuration's encoder. Its errors become the underlying error of the
    ///   ``RequestError`` of ``Foundation/URLRequest/Config/request()``; a request keeps only their text.
    public init(_ encode: @escaping @Sendable (_ fields: inout HTTPFields, _ encoder: JSONEncoder) throws -> Data) {
        content = .encoded(encode)
    }

    /// A JSON object; `nil` leaves a member out, `.null` is JSON null.
    ///
    /// If every member is `nil`, there is no body. The literal `[:]` is an empty object.
    public init(dictionaryLiteral elements: (String, (any JSON & Sendable)?)...) {
        let members = elements.compactMap { name, value in Member(present: value).map { (name, $0) } }
        if !members.isEmpty || elements.isEmpty { content = .members(Dictionary(members) { $1 }) }
    }

    private subscript(any name: String) -> Member? {
        get { if case .members(let members) = content { members[name] } else { nil } }
        set {
            guard case .members(var members) = content ?? .members([:]) else {
                let words = "member '\(name)' is set on a whole body; use only members, or only a whole body"
                self = Self { _, _ in throw InvalidInput(words) }
                return
            }
            // This releases the second reference, so that the next line does not copy the members.
            content = nil
            members[name] = newValue
            if !members.isEmpty { content = .members(members) }
        }
    }

    /// A member of the JSON object; `nil` removes the member, `.null` is JSON null.
    ///
    /// The key strategy of the encoder does not change the name. Setting a member of a whole body is an error
    /// (``RequestError/Code/invalidRequest``).
    public subscript(member: String) -> (any JSON & Sendable)? {
        get { self[any: member]?.value }
        set { self[any: member] = Member(present: newValue) }
    }

    /// A member from a model or an array of models, with the strategies of the encoder.
    @_disfavoredOverload
    public subscript(member: String) -> (any Encodable & Sendable)? {
        get { self[any: member].map { ($0.value as? Model)?.value ?? $0 } }
        set { self[any: member] = newValue.map { Member(Model(value: $0)) } }
    }

    /// A literal as JSON, encoded when the request is built; `nil` gives no body.
    public static func json(_ literal: (any JSON & Sendable)?) -> Self {
        Self(content: Member(present: literal).map(Content.model))
    }

    /// A model as JSON, encoded with ``Foundation/URLRequest/Config/encoder`` when the request is built.
    @_disfavoredOverload
    public static func json(_ model: any Encodable & Sendable) -> Self { Self(content: .model(model)) }

    /// A form as `application/x-www-form-urlencoded` (WHATWG URL), with the items in order; a space becomes `+`.
    public static func form(_ items: URLRequest.Query) -> Self {
        Self { fields, encoder in
            let form = try items.resolved(encoder).formEncoded
            fields.setContentType(.form)
            return Data(form.utf8)
        }
    }

    /// A form as `multipart/form-data` (RFC 7578), with its files in memory.
    ///
    /// The files are read when the request is built. ``UploadSource/multipart(_:)`` needs no memory for them. A file
    /// that cannot be read is an error (``RequestError/Code/invalidRequest``). So is a `Content-Type` of the caller: it
    /// has no boundary.
    public static func multipart(_ form: MultipartForm) -> Self {
        Self { fields, encoder in
            fields.setContentType(try form.contentType(insteadOf: fields[.contentType]))
            return try form.data(encoder)
        }
    }

    /// Text in UTF-8.
    public static func text(_ text: String, contentType: MediaType = .text) -> Self {
        data(Data(text.utf8), contentType: contentType)
    }

    /// Bytes, unchanged.
    public static func data(_ data: Data, contentType: MediaType = "application/octet-stream") -> Self {
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
            return try encoder().encode(members)
        case .model(let model):
            fields.setContentType(.json)
            return try encoder().encode(Self.withoutNil(model))
        case .encoded(let encode):
            // The closure may change the encoder, which other requests share.
            return try encode(&fields, encoder().copy())
        }
    }
}

extension RequestBody: RedactedReflectable {
    var shownChildren: [(String, Any?)] { [("isEmpty", isEmpty)] }
}

extension HTTPFields {
    fileprivate mutating func setContentType(_ contentType: MediaType) {
        if !contains(.contentType) { self[.contentType] = contentType.description }
    }
}
