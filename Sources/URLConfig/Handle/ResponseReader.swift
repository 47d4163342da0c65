/// Makes a value of a response: it checks the status, then reads the content.
///
/// An app adds its own readers as static members:
///
/// ```swift
/// extension ResponseReader where Output == Bool {
///     static let exists = Self(status: [200, 404]) { $0.status == .ok }
/// }
/// extension ResponseReader where Output: Decodable {
///     static var envelope: Self { ResponseReader<Envelope<Output>>.json.map(\.data) }
/// }
/// let user: User = try await URLSession.shared.value(for: .with(.api, reader: .envelope) { $0.path = "/me" })
/// ```
public struct ResponseReader<Output: Sendable>: Sendable {
    let read: @Sendable (DataResponse) throws -> Output

    /// A reader of responses with certain statuses; others throw ``RequestError/Code/unacceptableStatus``.
    ///
    /// - Parameters:
    ///   - status: The statuses; `nil`, the default, for 2xx.
    ///   - read: Makes the value. Its errors are rethrown.
    public init(
        status: Set<HTTPResponse.Status>? = nil, _ read: @escaping @Sendable (DataResponse) throws -> Output
    ) {
        self.read = { try read(status.map($0.validated(status:)) ?? $0.validated()) }
    }

    // Disfavoured, so that `Self { … }` calls the other init.
    @_disfavoredOverload
    private init(anyStatus read: @escaping @Sendable (DataResponse) throws -> Output) {
        self.read = read
    }

    /// A reader that transforms the value of this one; errors of `transform` are rethrown.
    public func map<Value>(_ transform: @escaping @Sendable (Output) throws -> Value) -> ResponseReader<Value> {
        .init(anyStatus: { try transform(read($0)) })
    }

    /// This reader, with a fixed value for some statuses, such as `.json.or(nil, for: .notFound)`.
    ///
    /// Validators run first: ``ResponseValidator/success`` refuses a 404.
    public func or(_ value: Output, for status: HTTPResponse.Status...) -> Self {
        Self(anyStatus: { status.contains($0.status) ? value : try read($0) })
    }

    /// This reader, with the API's own error in place of ``RequestError/Code/unacceptableStatus``.
    ///
    /// For all requests of an API, ``ResponseValidator/orThrow(_:)`` does the same.
    ///
    /// - Parameter failure: The type of the error, as for ``DataResponse/validated(orThrow:decoder:)``.
    public func orThrow<Failure: Decodable & Error>(_ failure: Failure.Type) -> Self {
        Self(anyStatus: { response in
            do {
                return try read(response)
            } catch let error as RequestError where error.code == .unacceptableStatus {
                try response.validated(orThrow: failure)
                throw error
            }
        })
    }
}

extension ResponseReader where Output: Decodable {
    /// A model from the content of a 2xx response, with the decoder that ``DataResponse/decode(_:_:)`` uses.
    public static var json: Self { Self { try $0.decode() } }

    /// ``text`` for `String` and `String?`, ``data`` for `Data` and `Data?`, ``json`` for other types.
    static var automatic: Self {
        let (text, data) = (ResponseReader<String>.text, ResponseReader<Data>.data)
        return text as? Self ?? data as? Self ?? text.map(Optional.some) as? Self ?? data.map(Optional.some) as? Self
            ?? json
    }
}

extension ResponseReader where Output == String {
    /// The content of a 2xx response as text, as ``DataResponse/text()`` reads it.
    public static var text: Self { Self { try $0.text() } }

    /// The same in an encoding, whatever the server names.
    public static func text(encoding: String.Encoding) -> Self { Self { try $0.text(encoding: encoding) } }
}

extension ResponseReader where Output == Data {
    /// The unchanged content of a 2xx response.
    public static var data: Self { Self(\.data) }
}

extension ResponseReader where Output == Void {
    /// Requires a 2xx status; the content is ignored.
    public static var discard: Self { Self { _ in } }
}
