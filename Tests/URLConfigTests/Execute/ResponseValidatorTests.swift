import FlyingFox
import Testing
import URLConfig

@Suite struct ResponseValidatorTests {
    private struct Blocked: Error {}

    @discardableResult
    private func get(
        _ path: URLRequest.Path = "/", _ configure: (inout URLSession.Config) -> Void
    ) async throws -> DataResponse {
        try await Loopback.serving { request in
            request.path == "/missing" ? .status(.notFound, "nothing here") : .json(#"{"a":1}"#)
        } _: {
            try await $0.get(path, configure)
        }
    }

    @Test func `a validator may replace the response`() async throws {
        let response = try await get {
            $0.validators = [
                ResponseValidator { $0.data = Data("replaced".utf8) },
                ResponseValidator { #expect($0.data == Data("replaced".utf8)) },
            ]
        }
        #expect(response.data == Data("replaced".utf8))
    }

    @Test func `what a validator throws is rethrown, and the next one is not called`() async throws {
        await #expect(throws: Blocked.self) {
            try await get {
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
            let error = await expectError(code) { try await get("/missing") { $0.validators = [check] } }
            #expect(error?.response?.data == Data("nothing here".utf8))
            try await get { $0.validators = [check] }
        }
    }

    @Test func `a fallback responds instead of an error, and its own error is thrown`() async throws {
        let response = try await get("/missing") {
            $0.validators = [.success]
            $0.fallback = { error, request in
                #expect((error as? RequestError)?.code == .unacceptableStatus)
                return DataResponse(request: request, data: Data("stored".utf8))
            }
        }
        #expect(response.data == Data("stored".utf8))
        #expect(response.status == .ok)
        await #expect(throws: Blocked.self) {
            try await get("/missing") {
                $0.validators = [.success]
                $0.fallback = { _, _ in throw Blocked() }
            }
        }
    }

    @Test func `a fallback responds if another task was cancelled`() async throws {
        let response = try await get {
            $0.validators = [ResponseValidator { _ in throw CancellationError() }]
            $0.fallback = { _, request in DataResponse(request: request, data: Data("stored".utf8)) }
        }
        #expect(response.data == Data("stored".utf8))
    }

    @Test func `a fallback does not hide a request that cannot be sent`() async throws {
        await expectError(.invalidURL) {
            try await get("/a/../b") { $0.fallback = { _, request in DataResponse(request: request) } }
        }
    }

    @Test(
        arguments: [
            (.forbidden, "cloudflare", "text/html; charset=UTF-8", true), (.forbidden, "Cloudflare", "text/html", true),
            (.forbidden, "cloudflare", "application/json", false), (.forbidden, "nginx", "text/html", false),
            (.ok, "cloudflare", "text/html", false), (.notFound, "cloudflare", "text/html", false),
        ] as [(HTTPStatusCode, String, String, Bool)])
    func `an app's own check recognizes a page of Cloudflare, and posts a notification`(
        status: HTTPStatusCode, server name: String, contentType: String, isBlocked: Bool
    ) async throws {
        let center = NotificationCenter()
        try await confirmation(expectedCount: isBlocked ? 1 : 0) { posted in
            let token = center.addObserver(forName: .blockedByCloudflare, object: nil, queue: nil) { _ in posted() }
            defer { center.removeObserver(token) }
            func send() async throws {
                try await Loopback.get(
                    .status(status, "<html>").with(["Server": name, "Content-Type": contentType])
                ) { $0.validators = [.notBlockedByCloudflare(center)] }
            }
            if isBlocked {
                await #expect(throws: AppError.blockedByCloudflare) { try await send() }
            } else {
                try await send()
            }
        }
    }
}

private enum AppError: Error {
    case blockedByCloudflare
}

extension Notification.Name {
    fileprivate static let blockedByCloudflare = Self("BlockedByCloudflare")
}

extension ResponseValidator {
    /// The example of the documentation, with a notification center for this test.
    fileprivate static func notBlockedByCloudflare(_ center: NotificationCenter) -> Self {
        Self { response in
            guard response.status == .forbidden, response.headerFields[.server]?.lowercased() == "cloudflare",
                response.hasContentType(.html)
            else { return }
            center.post(name: .blockedByCloudflare, object: nil)
            throw AppError.blockedByCloudflare
        }
    }
}
