/// Makes a value of a response: checks the status, then reads the content.
///
/// An app adds its own as a static member:
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

    /// A reader of 2xx responses; of others, ``RequestError/Code/unacceptableStatus`` is thrown.
    ///
    /// - Parameter read: Makes the value. What it throws is rethrown as it is.
    public init(_ read: @escaping @Sendable (DataResponse) throws -> Output) {
        self.init(accepting: 200..<300, read)
    }

    /// A reader of responses with certain statuses; of others, ``RequestError/Code/unacceptableStatus`` is thrown.
    ///
    /// - Parameters:
    ///   - codes: Status codes, such as `[200, 404]`, or `0...999` for all.
    ///   - read: Makes the value. What it throws is rethrown as it is.
    public init(
        accepting codes: some Sequence<Int> & Sendable, _ read: @escaping @Sendable (DataResponse) throws -> Output
    ) {
        body = { try read($0.validateStatusCode(in: codes)) }
    }

    /// The value of a response, as `value(for:)` gives it.
    ///
    /// - Parameter response: The response.
    /// - Throws: ``RequestError`` with code ``RequestError/Code/unacceptableStatus`` and the whole response if its status is
    ///   not one that this reader accepts; else what it cannot read, as `decode()` and `text()` throw it.
    public func read(_ response: DataResponse) throws -> Output {
        try body(response)
    }

    /// A reader of a value made of this one's.
    ///
    /// - Parameter transform: Makes the value. What it throws is rethrown as it is.
    public func map<Value: Sendable>(
        _ transform: @escaping @Sendable (Output) throws -> Value
    ) -> ResponseReader<Value> {
        .init(accepting: 0...999) { try transform(read($0)) }
    }

    /// This reader, with a value of its own for some statuses, whatever the content.
    ///
    /// ```swift
    /// .with(.api, reader: .json.or(nil, for: .notFound)) { … }
    /// ```
    ///
    /// A validator such as ``ResponseValidator/success`` comes before all readers, and refuses such a status.
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
    /// ```swift
    /// .with(.api, reader: .json.orThrow(APIError.self)) { … }
    /// ```
    ///
    /// For all requests of an API, ``ResponseValidator/success(orThrow:_:)`` does the same.
    ///
    /// - Parameters:
    ///   - failure: The type of the API's own error, which is thrown as ``DataResponse/validated(orThrow:_:)`` has it.
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
