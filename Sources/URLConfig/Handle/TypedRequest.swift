/// A request with the reader of its response, for an app that declares its API in one place.
///
/// ```swift
/// extension TypedRequest where Output == User? {
///     static func user(_ id: Int) -> Self {
///         .with(.api, reader: .json.or(nil, for: .notFound)) { $0.path = "/users/\(id)" }
///     }
/// }
/// extension TypedRequest where Output == Void {
///     static func delete(_ id: Int) -> Self {
///         .init(.with(.api) { ($0.method, $0.path) = (.delete, "/users/\(id)") }, reader: .none)
///     }
/// }
/// let user = try await URLSession.shared.value(for: .user(1))
/// ```
public struct TypedRequest<Output: Sendable>: Sendable {
    /// The request; it can also be sent by other means, or checked in a test.
    public var request: URLRequest
    /// Makes the value of the response.
    public var reader: ResponseReader<Output>

    /// A request and a reader.
    public init(_ request: URLRequest, reader: ResponseReader<Output>) {
        self.request = request
        self.reader = reader
    }

    /// The same request with a transformed value, such as `.map(\.data)`; `value(for:)` rethrows errors of `transform`.
    public func map<Value>(_ transform: @escaping @Sendable (Output) throws -> Value) -> TypedRequest<Value> {
        .init(request, reader: reader.map(transform))
    }
}

extension TypedRequest where Output: Decodable {
    /// Builds a request from a preset and changes, as `URLRequest.with` does.
    ///
    /// - Parameters:
    ///   - config: The preset, by default ``Foundation/URLRequest/Config/default``.
    ///   - reader: Makes the value of the response; by default ``ResponseReader/text`` for a `String`,
    ///     ``ResponseReader/data`` for `Data`, and ``ResponseReader/json`` for other types.
    ///   - configure: Makes the changes. Its errors are rethrown; if it does not throw, no `try` is needed.
    public static func with<Failure: Error>(
        _ config: URLRequest.Config = .init(), reader: ResponseReader<Output>? = nil,
        _ configure: (inout URLRequest.Config) throws(Failure) -> Void
    ) throws(Failure) -> Self {
        Self(try URLRequest.with(config, configure), reader: reader ?? .automatic)
    }
}

extension TypedRequest where Output == Void {
    /// Unavailable: the message says what to write instead.
    @available(*, unavailable, message: "write `TypedRequest(.with(.api) { … }, reader: .none)`")
    public static func with(
        _ config: URLRequest.Config = .init(), reader: ResponseReader<Void>? = nil,
        _ configure: (inout URLRequest.Config) throws -> Void
    ) -> Self { Self(.with(config) { _ in }, reader: .none) }
}

extension TypedRequest: RedactedReflectable {
    var shownChildren: [(String, Any?)] { [("request", request.urlString)] }
}
