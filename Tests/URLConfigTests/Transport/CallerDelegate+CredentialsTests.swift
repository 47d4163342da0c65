#if canImport(FoundationNetworking)
import FlyingFox
import Testing

@testable import URLConfig

/// A delegate's credential for a challenge, together with other credentials of the call.
@Suite(.urlSessionOnly, .timeLimit(.minutes(10))) struct CallerDelegateCredentialsTests {
    @Test func `a credential for a challenge does not take the place of a token`() async throws {
        let authenticator = TokenAuthenticator(hosts: ["127.0.0.1"]) {
            .init("old")
        } refresh: { _ in
            .init("new")
        }
        let delegate = ChallengeDelegate(password: "secret")
        let seen = Journal()
        try await Loopback.serving { request in
            let field = request.headers[.authorization] ?? "none"
            await seen.note(field)
            return field == "Bearer new" ? .json("{}") : .challenge()
        } _: { server in
            let response = try await server.get {
                $0.authenticator = authenticator
                $0.taskDelegate = delegate
                $0.onUnauthorized = { _ in Issue.record("there is a good token") }
            }
            #expect(response.isSuccess)
            // The request's `Authorization` has priority over a credential for a challenge.
            let own = server.request { $0.authorization = .bearer("own") }
            let refused = try await server.response(for: own) { $0.taskDelegate = delegate }
            #expect(refused.status == .unauthorized)
        }
        #expect(await seen.entries == ["Bearer old", "Bearer new", "Bearer own"])
    }

    @Test func `new credentials come before a credential for a challenge`() async throws {
        /// Has a token only after the first refusal.
        struct Late: Authenticator {
            let hasToken = Locked(false)

            func authorize(_ request: inout URLRequest) async throws {
                guard hasToken.withLock({ $0 }) else { return }
                request.setValue("Bearer new", forHTTPHeaderField: "Authorization")
            }

            func reauthorize(after response: DataResponse) async throws -> Bool {
                hasToken.set(\.self, true)
                return true
            }
        }
        let delegate = ChallengeDelegate(password: "wrong")
        let seen = Journal()
        try await Loopback.serving { request in
            let field = request.headers[.authorization] ?? "none"
            await seen.note(String(field.prefix { $0 != " " }))
            return field == "Bearer new" ? .json("{}") : .challenge()
        } _: { server in
            let response = try await server.get {
                $0.authenticator = Late()
                $0.taskDelegate = delegate
            }
            #expect(response.isSuccess)
        }
        #expect(await seen.entries == ["none", "Basic", "Basic", "Bearer"])
    }

    @Test(arguments: [true, false])
    func `credentials of a delegate or a configuration were sent, and the error says so`(isDelegate: Bool) async throws
    {
        let delegate = ChallengeDelegate(password: "wrong")
        try await Loopback.guarded { server in
            let configuration = URLSessionConfiguration.ofTests
            if !isDelegate { configuration.httpAdditionalHeaders = ["authorization": "Bearer t"] }
            let session = URLSession(configuration: configuration)
            let error = await #expect(throws: RequestError.self) {
                try await session.response(for: server.request(), config: .silent) {
                    $0.taskDelegate = isDelegate ? delegate : nil
                    $0.onUnauthorized = { _ in }
                }
            }
            #expect(error?.reason == "the server refused the credentials")
        }
    }

    @Test func `a credential for a challenge stays with the origin that asked`() async throws {
        struct Moving: Authenticator {
            let other: URL
            let hops = Locked(0)

            func authorize(_ request: inout URLRequest) async throws {
                let hop = hops.withLock { hops in
                    hops += 1
                    return hops
                }
                if hop > 1 { request.url = other }
            }
        }
        let delegate = ChallengeDelegate(password: "secret")
        try await Loopback.guarded { server in
            try await FaultServer.serving(.ok("{}")) { other in
                let url = try #require(URL(string: other.host))
                try await server.get {
                    $0.taskDelegate = delegate
                    $0.authenticator = Moving(other: url)
                }
                #expect(other.requests.map { $0.field("Authorization") } == [nil])
            }
        }
    }
}
#endif
