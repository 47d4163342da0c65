import Testing
import URLConfigTesting

@testable import URLConfig

@Suite(
    .inTime,
    .stubs {
        $0.get("/missing", .text("nothing here", status: .notFound)).optional()
        $0.get("/", .json(#"{"a":1}"#)).optional()
    }) struct ResponseValidatorTests
{
    private struct Blocked: Error {}

    @Test func `a validator may replace the response`() async throws {
        let response = try await stubs.get {
            $0.validators = [
                ResponseValidator { $0.data = Data("replaced".utf8) },
                ResponseValidator { #expect($0.data == Data("replaced".utf8)) },
            ]
        }
        #expect(response.data == Data("replaced".utf8))
    }

    @Test func `the error of a validator is rethrown, and the next one is not called`() async throws {
        await #expect(throws: Blocked.self) {
            try await stubs.get {
                $0.validators = [
                    ResponseValidator { _ in throw Blocked() },
                    ResponseValidator { _ in Issue.record("not after a refusal") },
                ]
            }
        }
    }

    @Test func `the ready-made checks refuse with the whole response`() async throws {
        let checks: [(ResponseValidator, RequestError.Code)] = [
            (.success, .unacceptableStatus), (.status([200, 201]), .unacceptableStatus),
            (.contentType(.json), .unacceptableContentType),
        ]
        for (check, code) in checks {
            let error = await expectError(code) { try await stubs.get("/missing") { $0.validators = [check] } }
            #expect(error?.response?.data == Data("nothing here".utf8))
            try await stubs.get { $0.validators = [check] }
        }
    }

    @Test func `a fallback responds instead of an error, and its own error is thrown`() async throws {
        let response = try await stubs.get("/missing") {
            $0.validators = [.success]
            $0.fallback = { error, request in
                #expect((error as? RequestError)?.code == .unacceptableStatus)
                return DataResponse(request: request, data: Data("stored".utf8))
            }
        }
        #expect(response.data == Data("stored".utf8))
        #expect(response.status == .ok)
        await #expect(throws: Blocked.self) {
            try await stubs.get("/missing") {
                $0.validators = [.success]
                $0.fallback = { _, _ in throw Blocked() }
            }
        }
    }

    @Test(.stubs { $0.get("/", .status(.serviceUnavailable)).times(2) })
    func `the response of a fallback has the attempts that failed, unless it has its own`() async throws {
        let response = try await stubs.get {
            $0.retry = .atOnce(2)
            $0.validators = [.success]
            $0.fallback = { _, request in DataResponse(request: request) }
        }
        #expect(response.attempts.map(\.status?.code) == [503, 503])
        let other = try await stubs.get(.status(.notFound)) {
            $0.validators = [.success]
            $0.fallback = { _, _ in try await stubs.get(.status(.ok)) }
        }
        #expect(other.attempts.map(\.status?.code) == [200])
    }

    @Test func `a fallback responds if another task was cancelled`() async throws {
        let response = try await stubs.get {
            $0.validators = [ResponseValidator { _ in throw CancellationError() }]
            $0.fallback = { _, request in DataResponse(request: request, data: Data("stored".utf8)) }
        }
        #expect(response.data == Data("stored".utf8))
    }

    @Test func `a fallback does not hide a request that cannot be sent`() async throws {
        await expectError(.invalidURL) {
            try await stubs.get("/a/../b") { $0.fallback = { _, request in DataResponse(request: request) } }
        }
    }
}
