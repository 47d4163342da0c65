#if canImport(Testing)
import Testing
import URLConfig

extension HTTPStubs {
    /// A trait of tests and suites whose calls go to stubs, to recordings, or nowhere.
    public struct ScopeTrait: TestTrait, SuiteTrait, TestScoping {
        let run: @Sendable (_ test: @Sendable () async throws -> Void) async throws -> Void

        /// Each test of a suite has a scope of its own.
        public var isRecursive: Bool { true }

        /// Runs a test in the scope.
        public func provideScope(
            for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
        ) async throws {
            try await run(function)
        }
    }
}

extension Trait where Self == HTTPStubs.ScopeTrait {
    /// The calls of the test go to stubs (``HTTPStubs``).
    ///
    /// On a suite, each test has its own stubs, and the routes of a test come before its suite's.
    ///
    /// - Parameter routes: Sets the routes. It is called for each test.
    public static func stubs(
        fileID: String = #fileID, filePath: String = #filePath, line: UInt = #line,
        _ routes: @escaping @Sendable (inout HTTPStubs.Routes) throws -> Void
    ) -> Self {
        Self { test in
            try await HTTPStubs.with(
                routes, fileID: fileID, filePath: filePath, line: line, operation: test)
        }
    }

    /// The calls of the test go to a recording (``HTTPStubs/Routes/replay(_:mode:fileID:filePath:line:)``).
    ///
    /// - Parameters:
    ///   - name: The name of the file without `.har`. It is in the folder `__Replays__` beside the test's file.
    ///   - mode: What to do; by default what the environment variable `URLCONFIG_REPLAY` says.
    public static func replay(
        _ name: String, mode: HTTPStubs.ReplayMode? = nil, fileID: String = #fileID, filePath: String = #filePath,
        line: UInt = #line
    ) -> Self {
        stubs(fileID: fileID, filePath: filePath, line: line) {
            $0.replay(name, mode: mode, fileID: fileID, filePath: filePath, line: line)
        }
    }

    /// Calls of the test that no stub is for throw (``HTTPStubs/refuseNetwork()``).
    ///
    /// So do calls that belong to no test, such as calls in detached tasks, in the whole process.
    public static var offline: Self {
        // The traits of all tests are made before the first test runs.
        Refusal.refuse(detachedOnly: true)
        return Self { test in
            // The stubs around it refuse other calls, too.
            if StubScope.current != nil, CallScope.standIn != nil { return try await test() }
            try await CallScope.$current.withValue(Refusal.offline, operation: test)
        }
    }

    /// The calls of the test go to real servers, even in a suite that is `.offline` or has stubs.
    ///
    /// The test need not use the stubs of its suite.
    public static var network: Self {
        Self { test in
            StubScope.current?.needNotBeUsed()
            try await HTTPStubs.network(test)
        }
    }
}
#endif
