import Testing
import URLConfig
import URLConfigTesting

/// A server that refuses all credentials but "good".
@Suite(
    .inTime,
    .stubs {
        $0.get("/free").optional()
        $0.get("/*").field(.authorization, "good").optional()
        $0.get("/", .text("refused", status: .unauthorized)).optional()
    }) struct AuthenticatorTests
{
    @Test func `without new credentials the refusal is thrown, after onUnauthorized ran once`() async throws {
        let statuses = Recorder<Int>()
        let error = await expectError(.unauthorized) {
            try await stubs.get {
                $0.authenticator = CountingAuthenticator(renews: false)
                $0.onUnauthorized = { statuses.note($0.status.code) }
            }
        }
        #expect(error?.response?.status == .unauthorized)
        #expect(error?.response?.data == Data("refused".utf8))
        #expect(statuses.entries == [401])
    }

    @Test func `new credentials that are refused too are not refreshed again`() async throws {
        let authenticator = CountingAuthenticator()
        await expectError(.unauthorized) { try await stubs.get { $0.authenticator = authenticator } }
        #expect(authenticator.refused == 1)
    }

    @Test func `without authorize no credentials are sent, and a refusal is a response`() async throws {
        let authenticator = CountingAuthenticator()
        let response = try await stubs.get {
            $0.authenticator = authenticator
            $0.isUnauthorized = { _ in true }
            $0.onUnauthorized = { _ in Issue.record("nobody was signed in") }
            $0.authorize = false
        }
        #expect(response.status == .unauthorized)
        #expect(response.request.field("Authorization") == nil)
        #expect(authenticator.refused == 0)
    }

    @Test func `an authenticator's own call, with a configuration that names it, does not ask it again`() async throws {
        actor Calling: Authenticator {
            var asked = 0

            func authorize(_ request: inout URLRequest) async throws {
                asked += 1
                try await stubs.get("/free") { $0.authenticator = self }
                request.setValue("good", forHTTPHeaderField: "Authorization")
            }
        }
        let authenticator = Calling()
        #expect(try await stubs.get { $0.authenticator = authenticator }.isSuccess)
        #expect(await authenticator.asked == 1)
    }

    @Test func `the errors of an authenticator are rethrown`() async throws {
        struct SignedOut: Error {}
        let signedOut = TestAuthenticator { _ in throw SignedOut() }
        let unreachable = TestAuthenticator(reauthorize: { _ in throw Unreachable() })
        await #expect(throws: SignedOut.self) { try await stubs.get { $0.authenticator = signedOut } }
        await #expect(throws: Unreachable.self) { try await stubs.get { $0.authenticator = unreachable } }
    }
}
