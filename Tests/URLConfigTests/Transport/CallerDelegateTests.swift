import FlyingFox
import Testing

@testable import URLConfig

/// The questions to the caller's delegates, and the effects of their decisions.
@Suite(.urlSessionOnly, .timeLimit(.minutes(10))) struct CallerDelegateTests {
    enum Place: CaseIterable { case session, task }

    /// Sends a request to a server that wants a password, with a delegate of the session or of the task.
    private func guarded(
        _ place: Place, _ delegate: ChallengeDelegate, method: HTTPTypes.HTTPRequest.Method = .get,
        _ body: (URLSession, URLRequest, URLSession.Config) async throws -> Void
    ) async throws {
        try await Loopback.guarded { server in
            let session = URLSession(
                configuration: .ofTests, delegate: place == .session ? delegate : nil, delegateQueue: nil)
            defer { session.finishTasksAndInvalidate() }
            let request = server.request {
                $0.method = method
                if method == .post { $0.body = .text("hello") }
            }
            let config = URLSession.Config.silent.with { $0.taskDelegate = place == .task ? delegate : nil }
            try await body(session, request, config)
        }
    }

    @Test(arguments: Place.allCases)
    func `a challenge is answered with the delegate's credential`(place: Place) async throws {
        let delegate = ChallengeDelegate(password: "secret")
        try await guarded(place, delegate, method: .post) { session, request, config in
            let response = try await session.response(for: request, config: config)
            #expect(try response.text() == "welcome hello")
            #expect(delegate.challenges.withLock { $0 } == [0])
            #if canImport(FoundationNetworking)
            #expect(delegate.sent.withLock { $0 } == [5, 5])
            #endif
        }
    }

    @Test(arguments: Place.allCases)
    func `a credential that is wrong is asked for again, with the number of failures, twice at most`(
        place: Place
    ) async throws {
        let delegate = ChallengeDelegate(password: "wrong")
        try await guarded(place, delegate) { session, request, config in
            let response = try await session.response(for: request, config: config)
            #expect(response.status == .unauthorized)
            #expect(try response.text() == "who are you?")
            #expect(delegate.challenges.withLock { $0 } == [0, 1])
            #if canImport(FoundationNetworking)
            #expect(response.attempts.map(\.status?.code) == [401, 401, 401])
            #expect(response.attempts.first?.reason == "with credentials for the server's challenge")
            #endif
        }
    }

    @Test(arguments: [
        URLSession.AuthChallengeDisposition.performDefaultHandling, .rejectProtectionSpace, .useCredential,
    ])
    func `without a credential the 401 is the response`(disposition: URLSession.AuthChallengeDisposition) async throws {
        let delegate = ChallengeDelegate(disposition)
        try await guarded(.task, delegate) { session, request, config in
            let response = try await session.response(for: request, config: config)
            #expect(response.status == .unauthorized)
            #expect(delegate.challenges.withLock { $0 } == [0])
        }
    }

    @Test(arguments: [("secret", "r", [0]), ("wrong", "r", [0, 1]), ("secret", "other", [0])])
    func `a challenge is answered with the credential that the session's storage has for it`(
        password: String, realm: String, challenges: [Int]
    ) async throws {
        let delegate = ChallengeDelegate(.performDefaultHandling)
        try await guarded(.session, delegate) { session, request, config in
            let url = try #require(request.url)
            let space = URLProtectionSpace(
                host: url.host() ?? "", port: url.port ?? 0, protocol: "http", realm: realm,
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
            let credential = URLCredential(user: "ada", password: password, persistence: .forSession)
            session.configuration.urlCredentialStorage?.setDefaultCredential(credential, for: space)
            let response = try await session.response(for: request, config: config)
            #expect(response.status == (password == "secret" && realm == "r" ? .ok : .unauthorized))
            #expect(delegate.challenges.withLock { $0 } == challenges)
        }
    }

    @Test func `a delegate that cancels the challenge cancels the request, and not the task`() async throws {
        let delegate = ChallengeDelegate(.cancelAuthenticationChallenge)
        try await guarded(.session, delegate) { session, request, config in
            let error = await #expect(throws: URLError.self) {
                try await session.response(for: request, config: config)
            }
            #expect(error?.code == .cancelled)
        }
    }
}
