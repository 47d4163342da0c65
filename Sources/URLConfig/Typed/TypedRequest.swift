/// A request and how to read its response, for an app that declares its API in one place.
///
/// ```swift
/// extension TypedRequest where Output == User? {
///     static func user(_ id: Int) -> Self {
///         .with(.api, reader: .json.or(nil, for: .notFound)) { $0.path = "/users/\(id)" }
///     }
/// }
/// let user = try await URLSession.shared.value(for: .user(1))
/// ```
///
/// ``request`` is a plain `URLRequest`: it can be sent by other means or looked at in a test.
public struct TypedRequest<Output: Sendable>: Sendable {
    /// The request.
    public var request: URLRequest
    /// Makes the value of the response.
    public var reader: ResponseReader<Output>

    /// A finished request and a reader.
    public init(_ request: URLRequest, reader: ResponseReader<Output>) {
        self.request = request
        self.reader = reader
    }

    /// A request from a preset and changes, as `URLRequest.with`, and a reader.
    ///
    /// - Parameters:
    ///   - config: The preset, by default ``Foundation/URLRequest/Config/default``.
    ///   - reader: Makes the value of the response.
    ///   - configure: Makes the changes. What it throws is rethrown; one that does not throw needs no `try`.
    public static func with<Failure: Error>(
        _ config: URLRequest.Config = .init(), reader: ResponseReader<Output>,
        _ configure: (inout URLRequest.Config) throws(Failure) -> Void
    ) throws(Failure) -> Self {
        Self(try URLRequest.with(config, configure), reader: reader)
    }

    /// The same request, for a value that is made of this one's, as an envelope's `.map(\.data)`.
    ///
    /// - Parameter transform: Makes the value. What it throws is rethrown by `value(for:)`.
    public func map<Value>(_ transform: @escaping @Sendable (Output) throws -> Value) -> TypedRequest<Value> {
        .init(request, reader: reader.map(transform))
    }
}

extension TypedRequest where Output: Decodable {
    /// A finished request whose response ``ResponseReader/automatic`` reads.
    public init(_ request: URLRequest) { self.init(request, reader: .automatic) }

    /// As ``with(_:reader:_:)``, with ``ResponseReader/automatic``.
    public static func with<Failure: Error>(
        _ config: URLRequest.Config = .init(), _ configure: (inout URLRequest.Config) throws(Failure) -> Void
    ) throws(Failure) -> Self {
        try .with(config, reader: .automatic, configure)
    }
}

extension TypedRequest where Output == Void {
    /// A finished request; of its response, only the status matters.
    public init(_ request: URLRequest) { self.init(request, reader: .none) }

    /// As ``with(_:reader:_:)``, with ``ResponseReader/none``: only the status of the response matters.
    public static func with<Failure: Error>(
        _ config: URLRequest.Config = .init(), _ configure: (inout URLRequest.Config) throws(Failure) -> Void
    ) throws(Failure) -> Self {
        try .with(config, reader: .none, configure)
    }
}
