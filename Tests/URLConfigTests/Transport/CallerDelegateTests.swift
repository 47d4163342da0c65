import FlyingFox
import Testing

@testable import URLConfig

/// What the caller's own delegates hear of a task, and what their answers do.
@Suite struct CallerDelegateTests {
    enum Place: CaseIterable { case session, task }

    /// Serves `/` to who knows the password, and says what came.
    private func guarded(
        _ place: Place, _ delegate: Recorder, method: HTTPTypes.HTTPRequest.Method = .get,
        _ body: (Loopback, URLSession, URLRequest, (inout URLSession.Config) -> Void) async throws -> Void
    ) async throws {
        try await Loopback.serving { request in
            let sent = String(decoding: try await request.bodyData, as: UTF8.self)
            if request.headers[.authorization] == "Basic \(Data("ada:secret".utf8).base64EncodedString())" {
                return .json("welcome \(sent)")
            }
            return .init(
                statusCode: .unauthorized, headers: HTTPHeaders([.init("WWW-Authenticate"): "Basic realm=\"r\""]),
                body: Data("who are you?".utf8))
        } _: { server in
            let session = URLSession(
                configuration: .ephemeral, delegate: place == .session ? delegate : nil, delegateQueue: nil)
            defer { session.finishTasksAndInvalidate() }
            let request = URLRequest.with(server.config) {
                $0.method = method
                if method == .post { $0.body = .text("hello") }
            }
            try await body(server, session, request) {
                $0.logger = nil
                $0.taskDelegate = place == .task ? delegate : nil
            }
        }
    }

    @Test(arguments: Place.allCases)
    func `a challenge is answered with the delegate's credential`(place: Place) async throws {
        let delegate = Recorder { _ in
            (.useCredential, URLCredential(user: "ada", password: "secret", persistence: .none))
        }
        try await guarded(place, delegate, method: .post) { _, session, request, config in
            let response = try await session.response(for: request, config)
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
        let delegate = Recorder { _ in
            (.useCredential, URLCredential(user: "ada", password: "wrong", persistence: .none))
        }
        try await guarded(place, delegate) { _, session, request, config in
            let response = try await session.response(for: request, config)
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
    func `without a credential the refusal is the answer`(disposition: URLSession.AuthChallengeDisposition) async throws
    {
        let delegate = Recorder { _ in (disposition, nil) }
        try await guarded(.task, delegate) { _, session, request, config in
            let response = try await session.response(for: request, config)
            #expect(response.status == .unauthorized)
            #expect(delegate.challenges.withLock { $0 } == [0])
        }
    }

    @Test(arguments: [("secret", "r", [0]), ("wrong", "r", [0, 1]), ("secret", "other", [0])])
    func `a challenge is answered with the credential that the session's storage has for it`(
        password: String, realm: String, challenges: [Int]
    ) async throws {
        let delegate = Recorder { _ in (.performDefaultHandling, nil) }
        try await guarded(.session, delegate) { _, session, request, config in
            let url = try #require(request.url)
            let space = URLProtectionSpace(
                host: url.host() ?? "", port: url.port ?? 0, protocol: "http", realm: realm,
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
            let credential = URLCredential(user: "ada", password: password, persistence: .forSession)
            session.configuration.urlCredentialStorage?.setDefaultCredential(credential, for: space)
            let response = try await session.response(for: request, config)
            #expect(response.status == (password == "secret" && realm == "r" ? .ok : .unauthorized))
            #expect(delegate.challenges.withLock { $0 } == challenges)
        }
    }

    @Test func `a delegate that wants no answer cancels the request, and not the task`() async throws {
        let delegate = Recorder { _ in (.cancelAuthenticationChallenge, nil) }
        try await guarded(.session, delegate) { _, session, request, config in
            let error = await #expect(throws: URLError.self) { try await session.response(for: request, config) }
            #expect(error?.code == .cancelled)
        }
    }

    #if canImport(FoundationNetworking)
    @Test func `a credential for a challenge does not take the place of a token`() async throws {
        let authenticator = TokenAuthenticator(hosts: ["127.0.0.1"]) {
            .init("old")
        } refresh: { _ in
            .init("new")
        }
        let delegate = Recorder { _ in
            (.useCredential, URLCredential(user: "ada", password: "secret", persistence: .none))
        }
        let seen = Journal()
        try await Loopback.serving { request in
            let field = request.headers[.authorization] ?? "none"
            await seen.note(field)
            return field == "Bearer new"
                ? .json("{}")
                : .init(
                    statusCode: .unauthorized, headers: HTTPHeaders([.init("WWW-Authenticate"): "Basic realm=\"r\""]))
        } _: { server in
            let response = try await server.session.response(for: .with(server.config)) {
                $0.logger = nil
                $0.authenticator = authenticator
                $0.taskDelegate = delegate
                $0.onUnauthorized = { _ in Issue.record("there is a good token") }
            }
            #expect(response.isSuccess)
            // The request's own comes before any answer to a challenge.
            let own = URLRequest.with(server.config) { $0.authorization = .bearer("own") }
            let refused = try await server.session.response(for: own) {
                $0.logger = nil
                $0.taskDelegate = delegate
            }
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
        let delegate = Recorder { _ in
            (.useCredential, URLCredential(user: "ada", password: "wrong", persistence: .none))
        }
        let seen = Journal()
        try await Loopback.serving { request in
            let field = request.headers[.authorization] ?? "none"
            await seen.note(String(field.prefix { $0 != " " }))
            return field == "Bearer new"
                ? .json("{}")
                : .init(
                    statusCode: .unauthorized, headers: HTTPHeaders([.init("WWW-Authenticate"): "Basic realm=\"r\""]))
        } _: { server in
            let response = try await server.session.response(for: .with(server.config)) {
                $0.logger = nil
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
        let delegate = Recorder { _ in
            (.useCredential, URLCredential(user: "ada", password: "wrong", persistence: .none))
        }
        try await guarded(.task, delegate) { _, _, request, _ in
            let configuration = URLSessionConfiguration.ephemeral
            if !isDelegate { configuration.httpAdditionalHeaders = ["authorization": "Bearer t"] }
            let session = URLSession(configuration: configuration)
            let error = await #expect(throws: RequestError.self) {
                try await session.response(for: request) {
                    $0.logger = nil
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
        let delegate = Recorder { _ in
            (.useCredential, URLCredential(user: "ada", password: "secret", persistence: .none))
        }
        try await guarded(.task, delegate) { _, session, request, _ in
            try await FaultServer.serving(.ok("{}")) { other in
                let url = try #require(URL(string: other.host))
                try await session.response(for: request) {
                    $0.logger = nil
                    $0.taskDelegate = delegate
                    $0.authenticator = Moving(other: url)
                }
                #expect(other.requests.map { $0.field("Authorization") } == [nil])
            }
        }
    }
    #endif

    /// What a delegate is asked for and never gives.
    enum Question: CaseIterable { case challenge, redirect, stream }

    @Test(.timeLimit(.minutes(1)), arguments: Question.allCases)
    func `the request's time limit is that of a delegate that never answers, too`(question: Question) async throws {
        for timeout in [Duration.seconds(200), nil] { try await neverAnswering(question, timeout) }
    }

    private func neverAnswering(_ question: Question, _ timeout: Duration?) async throws {
        let clock = TestClock()
        let delegate = SilentDelegate(question)
        try await Loopback.serving { _ in
            question == .challenge
                ? .init(
                    statusCode: .unauthorized, headers: HTTPHeaders([.init("WWW-Authenticate"): "Basic realm=\"r\""]))
                : .init(statusCode: .temporaryRedirect, headers: HTTPHeaders([.location: "/"]))
        } _: { server in
            let request = URLRequest.with(server.config) {
                $0.timeout = timeout
                guard question == .stream else { return }
                $0.method = .post
                $0.modify = { $0.httpBodyStream = InputStream(data: Data("streamed".utf8)) }
            }
            let call = Task {
                try await server.session.response(for: request) {
                    $0.logger = nil
                    $0.clock = clock
                    $0.taskDelegate = delegate
                }
            }
            await delegate.isAsked.pass()
            await clock.waitForSleepers()
            // Without one, the configuration's limit on silence.
            clock.advance(by: timeout ?? .seconds(60))
            let error = await #expect(throws: URLError.self) { try await call.value }
            #expect(error?.code == .timedOut)
        }
    }

    @Test(.timeLimit(.minutes(1))) func `a delegate that never answers is left by a task that is cancelled`()
        async throws
    {
        let (asked, signal) = AsyncStream.makeStream(of: Void.self)
        let delegate = Recorder { _ in
            signal.yield()
            return nil
        }
        try await guarded(.task, delegate) { _, session, request, _ in
            let task = Task {
                try await session.response(for: request) {
                    $0.logger = nil
                    $0.taskDelegate = delegate
                }
            }
            for await _ in asked { break }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }
}

/// Never responds to one of its questions.
private final class SilentDelegate: NSObject, URLSessionTaskDelegate {
    let isAsked = Gate()
    private let question: CallerDelegateTests.Question

    init(_ question: CallerDelegateTests.Question) {
        self.question = question
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        isAsked.open()
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        if question == .stream { completionHandler(request) } else { isAsked.open() }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        isAsked.open()
    }
}

/// Notes what it is told, and answers challenges as a test wants.
private final class Recorder: NSObject, URLSessionDataDelegate {
    typealias Answer = (URLSession.AuthChallengeDisposition, URLCredential?)

    let challenges = Locked<[Int]>([])
    /// The bytes in all that were announced with each report.
    let sent = Locked<[Int64]>([])
    private let answer: @Sendable (_ failures: Int) -> Answer?

    init(answer: @escaping @Sendable (_ failures: Int) -> Answer?) {
        self.answer = answer
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        challenges.withLock { $0.append(challenge.previousFailureCount) }
        guard let answer = answer(challenge.previousFailureCount) else { return }
        completionHandler(answer.0, answer.1)
        // Twice is once too often, and must do no harm.
        #if canImport(FoundationNetworking)
        completionHandler(answer.0, answer.1)
        #endif
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        sent.withLock { $0.append(totalBytesExpectedToSend) }
    }
}
