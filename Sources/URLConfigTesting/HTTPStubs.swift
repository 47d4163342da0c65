// So that a test file needs one import.
@_exported import URLConfig

/// Stubs in place of servers, for tests.
///
/// ```swift
/// @Test(.stubs {
///     $0.get("https://api.example.com/users/{id}") { request in .json(User(id: request["id"], name: "Ada")) }
/// })
/// func `a user is read`() async throws {
///     #expect(try await UserRepository().user(1).name == "Ada")
/// }
/// ```
///
/// The calls of the test go to the stubs, whatever their `config:` says, and never to the network. Everything else is
/// as the app has set it: retries, redirects, authenticators, validators, time limits and decoders are also tested.
/// Tests that run at the same time do not see each other's stubs.
///
/// A call that matches no route throws `RequestError` with code `notStubbed`, and the test fails at the line of the
/// call. A route that is never used also fails the test, and so does a recording of which nothing is used.
public enum HTTPStubs {
    /// The requests that calls of this test have sent until now, in order; with `with`, in the innermost scope.
    public static var requests: [Request] { StubScope.current?.requests ?? [] }

    /// The clock that the routes of the innermost scope with a clock have set (``Routes/clock``).
    public static var clock: TestClock? { StubScope.current?.clock }

    /// Runs an operation whose calls go to stubs, for XCTest and for scripts; tests of Swift Testing have `.stubs`.
    ///
    /// ```swift
    /// func testUser() async throws {
    ///     try await HTTPStubs.with {
    ///         $0.get("/v2/users/1", .json(ada))
    ///     } operation: {
    ///         let user = try await UserRepository().user(1)
    ///         XCTAssertEqual(user, ada)
    ///     }
    /// }
    /// ```
    ///
    /// Its routes come before the routes of a scope around it. Detached tasks and queues of Dispatch that the operation
    /// starts are not in the scope (see ``refuseNetwork()``).
    ///
    /// - Parameters:
    ///   - routes: Sets the routes.
    ///   - operation: The operation. Its errors are rethrown.
    /// - Throws: `RequestError` with code `invalidStubs` if a route cannot
    ///   match, a recording cannot be read or written, or, outside of Swift Testing, if a call matched no route or a
    ///   route was not used. Swift Testing receives the last two as issues.
    @discardableResult
    nonisolated(nonsending) public static func with<Result>(
        _ routes: (inout Routes) throws -> Void, fileID: String = #fileID, filePath: String = #filePath,
        line: UInt = #line, operation: () async throws -> Result
    ) async throws -> Result {
        let scope = StubScope(Routes(), in: Place(fileID: fileID, filePath: filePath, line: line))
        try routes(&scope.routes)
        return try await scope.run(operation)
    }

    /// From now on, calls that no scope reaches throw, for the whole process: for example calls in detached tasks, and
    /// calls of tests without stubs.
    ///
    /// A test that wants a real server has the trait `.network`, or calls in ``network(_:)``. Requests that Foundation
    /// itself sends, as in `data(for:)`, are not seen.
    public static func refuseNetwork() { Refusal.refuse(detachedOnly: false) }

    /// Runs an operation whose calls go to real servers, even within stubs and after ``refuseNetwork()``.
    ///
    /// - Parameter operation: The operation. Its errors are rethrown.
    nonisolated(nonsending) public static func network<Result>(
        _ operation: () async throws -> Result
    ) async rethrows -> Result {
        try await CallScope.$current.withValue(CallScope(), operation: operation)
    }
}
