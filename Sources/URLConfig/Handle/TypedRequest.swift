/// A request with the reader of its response, for an app that declares its API in one place.
///
/// ```swift
/// extension TypedRequest where Output == User? {
///     static func user(_ id: Int) -> Self {
///         .with(.api, reader: .json.or(nil, for: .notFound)) { $0.path = "/users/\(id)" }
///     }
/// }
/// extension TypedRequest where Output == Void {
///     static func delete(_ id: Int) -> Self { .with(.api) { ($0.method, $0.path) = (.delete, "/users/\(id)") } }
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
    /// Builds a request whose response has no value; by default its status must be 2xx, and its content is ignored.
    public static func with<Failure: Error>(
        _ config: URLRequest.Config = .init(), reader: ResponseReader<Void> = .discard,
        _ configure: (inout URLRequest.Config) throws(Failure) -> Void
    ) throws(Failure) -> Self {
        Self(try URLRequest.with(config, configure), reader: reader)
    }
}

extension TypedRequest: RedactedReflectable {
    var shownChildren: [(String, Any?)] {
        [("request", request.summary(URLSession.Config.default.redaction.knowing(request)))]
    }
}

extension URLSession {
    /// Sends a typed request, as `response(for:)` does, and returns the value that is read from the response.
    ///
    /// ```swift
    /// let user = try await URLSession.shared.value(for: .user(1)) { $0.retry = .standard }
    /// let me: User = try await URLSession.shared.value(for: .with(.api) { $0.path = "/me" })
    /// ```
    ///
    /// The validators run before the reader. The reader never runs on the caller's actor, so a large response does not
    /// block the main thread. ``Config/fallback`` is not called for errors of the reader.
    ///
    /// - Parameters:
    ///   - request: The request with its reader.
    ///   - config: The preset; by default that of the request's host (``Config/subscript(host:)``), or else
    ///     ``Config/default``.
    ///   - fileID: The source file in the log.
    ///   - line: The line in the log.
    ///   - configure: Makes changes for this call.
    /// - Throws: The errors of `response(for:)` and of the reader.
    public nonisolated(nonsending) func value<Output>(
        for request: TypedRequest<Output>, config: Config? = nil, fileID: String = #fileID, line: UInt = #line,
        _ configure: (inout Config) -> Void = { _ in }
    ) async throws -> Output {
        let response = try await response(for: request.request, config: config, fileID: fileID, line: line, configure)
        return try await request.reader.readOnNoActor(response)
    }
}

extension ResponseReader {
    @concurrent
    fileprivate func readOnNoActor(_ response: DataResponse) async throws -> Output { try read(response) }
}
