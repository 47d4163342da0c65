import FlyingFox
import Testing
import URLConfig

@Suite struct ResponseValidatorTests {
    private struct Blocked: Error {}

    private func response(
        to path: URLRequest.Path = "/", _ configure: @escaping @Sendable (inout URLSession.Config) -> Void
    ) async throws -> DataResponse {
        let result = LockedResult()
        try await Loopback.serving { request in
            request.path == "/missing" ? .status(.notFound, "nothing here") : .json(#"{"a":1}"#)
        } _: { server in
            await result.set {
                try await server.get(path) {
                    configure(&$0)
                }
            }
        }
        return try await result.get()
    }

    @Test func `a validator may replace the response`() async throws {
        let response = try await response {
            $0.validators = [
                ResponseValidator { $0.data = Data("replaced".utf8) },
                ResponseValidator { #expect($0.data == Data("replaced".utf8)) },
            ]
        }
        #expect(response.data == Data("replaced".utf8))
    }

    @Test func `what a validator throws passes as it is, and the next is not asked`() async throws {
        await #expect(throws: Blocked.self) {
            try await response {
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
            let error = await #expect(throws: RequestError.self) {
                try await response(to: "/missing") { $0.validators = [check] }
            }
            #expect(error?.code == code)
            #expect(error?.response?.data == Data("nothing here".utf8))
            _ = try await response { $0.validators = [check] }
        }
    }

    @Test func `a fallback answers instead of an error`() async throws {
        let response = try await response(to: "/missing") {
            $0.validators = [.success]
            $0.fallback = { error, request in
                #expect((error as? RequestError)?.code == .unacceptableStatus)
                return DataResponse(request: request, data: Data("stored".utf8))
            }
        }
        #expect(response.data == Data("stored".utf8))
        #expect(response.status == .ok)
    }

    @Test func `what a fallback throws is thrown`() async throws {
        await #expect(throws: Blocked.self) {
            try await response(to: "/missing") {
                $0.validators = [.success]
                $0.fallback = { _, _ in throw Blocked() }
            }
        }
    }

    @Test func `a fallback answers for somebody else's cancelled task`() async throws {
        let response = try await response {
            $0.validators = [ResponseValidator { _ in throw CancellationError() }]
            $0.fallback = { _, request in DataResponse(request: request, data: Data("stored".utf8)) }
        }
        #expect(response.data == Data("stored".utf8))
    }

    @Test func `a fallback does not hide a request that cannot be sent`() async throws {
        let error = await #expect(throws: RequestError.self) {
            try await response(to: "/a/../b") {
                $0.fallback = { _, request in DataResponse(request: request) }
            }
        }
        #expect(error?.code == .invalidURL)
    }
}

/// Stores a result of a closure that returns nothing.
private actor LockedResult {
    private var result: Result<DataResponse, any Error>?

    func set(_ body: () async throws -> DataResponse) async {
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
    }

    func get() throws -> DataResponse {
        try #require(result).get()
    }
}
