/// Makes a value of a response: checks the status, then reads the content. An app adds its own as a static member:
///
/// ```swift
/// extension ResponseReader where Output == Bool {
///     static let exists = Self(accepting: [200, 404]) { $0.status == .ok }
/// }
/// extension ResponseReader where Output: Decodable {
///     static var envelope: Self { ResponseReader<Envelope<Output>>.json.map(\.data) }
/// }
/// let user: User = try await URLSession.shared.value(for: .with(.api, reader: .envelope) { $0.path = "/me" })
/// ```
public struct ResponseReader<Output: Sendable>: Sendable {
    private let body: @Sendable (DataResponse) throws -> Output

    /// A reader of 2xx responses; others throw ``RequestError/Code/unacceptableStatus``.
    ///
    /// - Parameter read: Makes the value. What it throws is rethrown.
    public init(_ read: @escaping @Sendable (DataResponse) throws -> Output) {
        self.init(accepting: 200..<300, read)
    }

    /// A reader of responses with certain statuses; others throw ``RequestError/Code/unacceptableStatus``.
    ///
    /// - Parameters:
    ///   - codes: Status codes, such as `[200, 404]`, or `0...999` for all.
    ///   - read: Makes the value. What it throws is rethrown.
    public init(
        accepting codes: some Sequence<Int> & Sendable, _ read: @escaping @Sendable (DataResponse) throws -> Output
    ) {
        body = { try read($0.validateStatusCode(in: codes)) }
    }

    /// The value of a response.
    ///
    /// - Throws: ``RequestError`` with the whole response and code ``RequestError/Code/unacceptableStatus`` for a
    ///   status that is not accepted, or ``RequestError/Code/decoding`` for a content that cannot be read; what an
    ///   app's own reader throws.
    public func read(_ response: DataResponse) throws -> Output { try body(response) }

    /// A reader of a value that is made of this one's.
    ///
    /// - Parameter transform: Makes the value. What it throws is rethrown.
    public func map<Value>(_ transform: @escaping @Sendable (Output) throws -> Value) -> ResponseReader<Value> {
        .init(accepting: 0...999) { try transform(read($0)) }
    }

    /// This reader, with a fixed value for some statuses, such as `.json.or(nil, for: .notFound)`.
    ///
    /// Validators such as ``ResponseValidator/success`` come first, and refuse such a status.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - status: The status.
    ///   - others: More of them.
    public func or(_ value: Output, for status: HTTPResponse.Status, _ others: HTTPResponse.Status...) -> Self {
        Self(accepting: 0...999) { $0.status == status || others.contains($0.status) ? value : try read($0) }
    }

    /// This reader, with the API's own error in place of ``RequestError/Code/unacceptableStatus``.
    ///
    /// For all requests of an API, ``ResponseValidator/success(orThrow:_:)`` does the same.
    ///
    /// - Parameters:
    ///   - failure: The type of the API's own error, thrown as by ``DataResponse/validated(orThrow:_:)``.
    ///   - configure: Makes changes to how it is decoded.
    public func orThrow<Failure: Decodable & Error>(
        _ failure: Failure.Type, _ configure: @escaping @Sendable (inout DataResponse.Config) -> Void = { _ in }
    ) -> Self {
        Self(accepting: 0...999) { response in
            do {
                return try read(response)
            } catch let error as RequestError where error.code == .unacceptableStatus {
                try response.validated(orThrow: failure, configure)
                throw error
            }
        }
    }
}
