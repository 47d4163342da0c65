/// A request and how its response is read, for an app that declares its API in one place.
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
    /// A plain request, which can also be sent by other means or looked at in a test.
    public var request: URLRequest
    /// Makes the value of the response.
    public var reader: ResponseReader<Output>

    /// A request and a reader.
    public init(_ request: URLRequest, reader: ResponseReader<Output>) {
        self.request = request
        self.reader = reader
    }

    /// The same request, for a value that is made of this one's, such as an envelope's `.map(\.data)`.
    ///
    /// - Parameter transform: Makes the value. What it throws is rethrown by `value(for:)`.
    public func map<Value>(_ transform: @escaping @Sendable (Output) throws -> Value) -> TypedRequest<Value> {
        .init(request, reader: reader.map(transform))
    }
}

extension TypedRequest where Output: Decodable {
    /// A request from a preset and changes, as `URLRequest.with` makes it, and a reader.
    ///
    /// - Parameters:
    ///   - config: The preset, by default ``Foundation/URLRequest/Config/default``.
    ///   - reader: Makes the value of the response; by default ``ResponseReader/text`` for a `String`,
    ///     ``ResponseReader/data`` for `Data`, and ``ResponseReader/json`` for other types.
    ///   - configure: Makes the changes. What it throws is rethrown; one that does not throw needs no `try`.
    public static func with<Failure: Error>(
        _ config: URLRequest.Config = .init(), reader: ResponseReader<Output>? = nil,
        _ configure: (inout URLRequest.Config) throws(Failure) -> Void
    ) throws(Failure) -> Self {
        Self(try URLRequest.with(config, configure), reader: reader ?? .automatic)
    }
}

extension TypedRequest where Output == Void {
    /// Unavailable: says what to write instead, which the compiler does not.
    @available(*, unavailable, message: "write `TypedRequest(.with(.api) { … }, reader: .none)`")
    public static func with(
        _ config: URLRequest.Config = .init(), reader: ResponseReader<Void>? = nil,
        _ configure: (inout URLRequest.Config) throws -> Void
    ) -> Self { Self(.with(config) { _ in }, reader: .none) }
}
