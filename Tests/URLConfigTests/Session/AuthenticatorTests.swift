import FlyingFox
import Testing
import URLConfig

@Suite struct AuthenticatorTests {
    /// Responds with the status to every request whose credentials are not "good".
    private func serving(
        refusal: HTTPStatusCode = .unauthorized, _ body: (Loopback) async throws -> Void
    ) async throws {
        try await Loopback.serving(
            { request in
                request.headers[.authorization] == "good" ? .json("{}") : .status(refusal, "refused")
            }, body)
    }

    @Test func `credentials are refreshed and the request is sent once more`() async throws {
        let authenticator = TestAuthenticator(credentials: "old", refreshed: "good")
        try await serving { server in
            let response = try await server.get {
                $0.authenticator = authenticator
            }
            #expect(response.isSuccess)
            #expect(response.request.value(forHTTPHeaderField: "Authorization") == "good")
        }
        #expect(await authenticator.refusals.map(\.status) == [.unauthorized])
    }

    @Test func `without new credentials the refusal is thrown, after onUnauthorized ran once`() async throws {
        let journal = Journal()
        try await serving { server in
            let error = await #expect(throws: RequestError.self) {
                try await server.get {
                    $0.authenticator = TestAuthenticator(credentials: "old", refreshed: nil)
                    $0.onUnauthorized = { await journal.note("\($0.status.code)") }
                }
            }
            #expect(error?.code == .unauthorized)
            #expect(error?.response?.status == .unauthorized)
            #expect(error?.response?.data == Data("refused".utf8))
        }
        #expect(await journal.entries == ["401"])
    }

    @Test func `new credentials that are refused too are not refreshed again`() async throws {
        let authenticator = TestAuthenticator(credentials: "old", refreshed: "bad")
        try await serving { server in
            let error = await #expect(throws: RequestError.self) {
                try await server.get {
                    $0.authenticator = authenticator
                }
            }
            #expect(error?.code == .unauthorized)
        }
        #expect(await authenticator.refusals.count == 1)
    }

    @Test func `forbidden means unauthorized where the caller says so`() async throws {
        try await serving(refusal: .forbidden) { server in
            let error = await #expect(throws: RequestError.self) {
                try await server.get {
                    $0.isUnauthorized = { $0.status == .forbidden }
                }
            }
            #expect(error?.code == .unauthorized)
            #expect(error?.response?.status == .forbidden)
        }
    }

    @Test func `without authorize no credentials leave, and a refusal is an answer`() async throws {
        let authenticator = TestAuthenticator(credentials: "good", refreshed: "good")
        try await serving { server in
            let response = try await server.get {
                $0.authenticator = authenticator
                $0.isUnauthorized = { _ in true }
                $0.onUnauthorized = { _ in Issue.record("nobody was signed in") }
                $0.authorize = false
            }
            #expect(response.status == .unauthorized)
            #expect(response.request.value(forHTTPHeaderField: "Authorization") == nil)
        }
        #expect(await authenticator.refusals.isEmpty)
    }

    @Test func `a refusal is an answer while nothing says what unauthorized means`() async throws {
        try await serving { server in
            let response = try await server.get()
            #expect(response.status == .unauthorized)
        }
    }

    @Test func `an authenticator's own call, with a configuration that names it, does not ask it again`() async throws {
        actor Calling: Authenticator {
            let server: Loopback
            var asked = 0

            init(server: Loopback) {
                self.server = server
            }

            func authorize(_ request: inout URLRequest) async throws {
                asked += 1
                try await server.get("/token") {
                    $0.authenticator = self
                }
                request.setValue("good", forHTTPHeaderField: "Authorization")
            }
        }
        try await serving { server in
            let authenticator = Calling(server: server)
            let response = try await server.get {
                $0.authenticator = authenticator
            }
            #expect(response.isSuccess)
            #expect(await authenticator.asked == 1)
        }
    }

    @Test func `what an authenticator throws passes as it is`() async throws {
        struct Failing: Authenticator {
            struct SignedOut: Error {}
            func authorize(_ request: inout URLRequest) async throws { throw SignedOut() }
        }
        struct FailingRefresh: Authenticator {
            struct Unreachable: Error {}
            func authorize(_ request: inout URLRequest) async throws {}
            func reauthorize(after response: DataResponse) async throws -> Bool { throw Unreachable() }
        }
        try await serving { server in
            await #expect(throws: Failing.SignedOut.self) {
                try await server.get {
                    $0.authenticator = Failing()
                }
            }
            await #expect(throws: FailingRefresh.Unreachable.self) {
                try await server.get {
                    $0.authenticator = FailingRefresh()
                }
            }
        }
    }
}

private actor TestAuthenticator: Authenticator {
    private(set) var refusals: [DataResponse] = []
    private var credentials: String
    private let refreshed: String?

    init(credentials: String, refreshed: String?) {
        self.credentials = credentials
        self.refreshed = refreshed
    }

    func authorize(_ request: inout URLRequest) async throws {
        request.setValue(credentials, forHTTPHeaderField: "Authorization")
    }

    func reauthorize(after response: DataResponse) async throws -> Bool {
        refusals.append(response)
        guard let refreshed else { return false }
        credentials = refreshed
        return true
    }
}
