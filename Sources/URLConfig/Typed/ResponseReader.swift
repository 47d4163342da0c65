/// Makes a value of a response: checks the status, then reads the content. An app adds its own as a static member:
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
    ///   - read: Makes the value. What it throws is rethrown.
    public init(
        status: Set<HTTPResponse.Status>? = nil, _ read: @escaping @Sendable (DataResponse) throws -> Output
    ) {
        self.read = { try read(status.map($0.validated(status:)) ?? $0.validated()) }
    }

    // An init without the first parameter would be called by `Self { … }`.
    private init(_ status: AnyStatus, _ read: @escaping @Sendable (DataResponse) throws -> Output) {
        self.read = read
    }

    /// A reader of a value that is made of this one's.
    ///
    /// - Parameter transform: Makes the value. What it throws is rethrown.
    public func map<Value>(_ transform: @escaping @Sendable (Output) throws -> Value) -> ResponseReader<Value> {
        .init(.any) { try transform(read($0)) }
    }

    /// This reader, with a fixed value for some statuses, such as `.json.or(nil, for: .notFound)`.
    ///
    /// Validators come first: ``ResponseValidator/success`` refuses a 404.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - status: The statuses.
    public func or(_ value: Output, for status: HTTPResponse.Status...) -> Self {
        Self(.any) { status.contains($0.status) ? value : try read($0) }
    }

    /// This reader, with the API's own error in place of ``RequestError/Code/unacceptableStatus``.
    ///
    /// For all requests of an API, ``ResponseValidator/orThrow(_:)`` does the same.
    ///
    /// - Parameter failure: The error's type; it is thrown as by ``DataResponse/validated(orThrow:decoder:)``.
    public func orThrow<Failure: Decodable & Error>(_ failure: Failure.Type) -> Self {
        Self(.any) { response in
            do {
                return try read(response)
            } catch let error as RequestError where error.code == .unacceptableStatus {
                try response.validated(orThrow: failure)
                throw error
            }
        }
    }
}

private enum AnyStatus { case any }

extension ResponseReader where Output: Decodable {
    /// A model from the content of a 2xx response, with the decoder that ``DataResponse/decode(_:_:)`` uses.
    public static var json: Self { Self { try $0.decode() } }

    /// ``text`` for a `String`, ``data`` for `Data`, optional ones included, and ``json`` for other types.
    static var automatic: Self {
        let (text, data) = (ResponseReader<String>.text, ResponseReader<Data>.data)
        return text as? Self ?? data as? Self ?? text.map(Optional.some) as? Self ?? data.map(Optional.some) as? Self
            ?? json
    }
}

extension ResponseReader where Output == String {
    /// The content of a 2xx response as text, as ``DataResponse/text()`` reads it.
    public static var text: Self { Self { try $0.text() } }
}

extension ResponseReader where Output == Data {
    /// The content of a 2xx response as it is.
    public static var data: Self { Self(\.data) }
}

extension ResponseReader where Output == Void {
    /// A 2xx status; the content is ignored.
    public static var none: Self { Self { _ in } }
}
