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
    /// The template of the path, as for ``Foundation/URLSession/Config/route``; `nil` for none.
    public var route: String?

    /// A request and a reader.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - route: The template of its path, such as `/users/{id}`, for traces and metrics.
    ///   - reader: Makes the value of the response.
    public init(_ request: URLRequest, route: String? = nil, reader: ResponseReader<Output>) {
        (self.request, self.route, self.reader) = (request, route, reader)
    }
}

extension TypedRequest where Output: Decodable {
    /// Builds a request from a preset and changes, as `URLRequest.with` does.
    ///
    /// - Parameters:
    ///   - config: The preset, by default ``Foundation/URLRequest/Config/default``.
    ///   - route: The template of the path, such as `/users/{id}`, for traces and metrics.
    ///   - reader: Makes the value of the response; by default ``ResponseReader/text`` for a `String`,
    ///     ``ResponseReader/data`` for `Data`, and ``ResponseReader/json`` for other types.
    ///   - configure: Makes the changes. Its errors are rethrown; if it does not throw, no `try` is needed.
    public static func with<Failure: Error>(
        _ config: URLRequest.Config = .init(), route: String? = nil, reader: ResponseReader<Output>? = nil,
        _ configure: (inout URLRequest.Config) throws(Failure) -> Void
    ) throws(Failure) -> Self {
        Self(try URLRequest.with(config, configure), route: route, reader: reader ?? .automatic)
    }
}

extension TypedRequest {
    /// Builds a request whose value is no model, such as a tuple or an image.
    ///
    /// - Parameters:
    ///   - config: The preset, by default ``Foundation/URLRequest/Config/default``.
    ///   - route: The template of the path, such as `/users/{id}`, for traces and metrics.
    ///   - reader: Makes the value of the response.
    ///   - configure: Makes the changes. Its errors are rethrown; if it does not throw, no `try` is needed.
    @_disfavoredOverload
    public static func with<Failure: Error>(
        _ config: URLRequest.Config = .init(), route: String? = nil, reader: ResponseReader<Output>,
        _ configure: (inout URLRequest.Config) throws(Failure) -> Void
    ) throws(Failure) -> Self {
        Self(try URLRequest.with(config, configure), route: route, reader: reader)
    }
}

extension TypedRequest where Output == Void {
    /// Builds a request whose response has no value; by default its status must be 2xx, and its content is ignored.
    public static func with<Failure: Error>(
        _ config: URLRequest.Config = .init(), route: String? = nil, reader: ResponseReader<Void> = .discard,
        _ configure: (inout URLRequest.Config) throws(Failure) -> Void
    ) throws(Failure) -> Self {
        Self(try URLRequest.with(config, configure), route: route, reader: reader)
    }
}

extension TypedRequest: RedactedReflectable {
    var shownChildren: [(String, Any?)] {
        [("request", request.urlString)]
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
    ///   - config: The preset, by default the one of the request's host (``Config/subscript(host:)``) or else
    ///     ``Config/default``.
    ///   - fileID: The source file in the log.
    ///   - line: The line in the log.
    ///   - configure: Makes changes for this call.
    /// - Throws: The errors of `response(for:)` and of the reader.
    public nonisolated(nonsending) func value<Output>(
        for request: TypedRequest<Output>, config: Config? = nil, fileID: String = #fileID, line: UInt = #line,
        _ configure: (inout Config) -> Void = { _ in }
    ) async throws -> Output {
        let response = try await response(for: request.request, config: config, fileID: fileID, line: line) {
            $0.route = request.route ?? $0.route
            configure(&$0)
        }
        return try await request.reader.readOnNoActor(response)
    }
}

extension ResponseReader {
    @concurrent
    fileprivate func readOnNoActor(_ response: DataResponse) async throws -> Output { try read(response) }
}

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
        self.read = { try read($0.validated(status: status)) }
    }

    // Disfavoured, so that `Self { … }` calls the other init.
    @_disfavoredOverload
    private init(anyStatus read: @escaping @Sendable (DataResponse) throws -> Output) {
        self.read = read
    }

    /// The same, and `nil` for a 204 or a 205 without content.
    fileprivate var orNone: ResponseReader<Output?> {
        .init(anyStatus: { [read] in try $0.isWithoutContent ? nil : read($0) })
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
    ///
    /// An optional is `nil` for a 204 or a 205 without content.
    static var automatic: Self {
        let (text, data) = (ResponseReader<String>.text, ResponseReader<Data>.data)
        return text as? Self ?? data as? Self ?? text.orNone as? Self ?? data.orNone as? Self ?? json
    }
}

extension ResponseReader where Output == String {
    /// The content of a 2xx response as text, as ``DataResponse/text(encoding:)`` reads it.
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
