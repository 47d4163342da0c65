import FlyingFox
import Testing

@testable import URLConfig

/// What the delegates of the task and of the session receive.
@Suite(.urlSessionOnly, .inTime) struct CallerDelegateTests {
    enum Place: CaseIterable { case session, task }

    #if canImport(FoundationNetworking)
    @Test(arguments: Place.allCases)
    func `a challenge is a response, and the delegate receives the progress of the upload`(place: Place) async throws {
        let delegate = UploadDelegate()
        try await Loopback.serving { _ in
            .challenge(text: "who are you?")
        } _: { server in
            let session = URLSession(
                configuration: .ofTests, delegate: place == .session ? delegate : nil, delegateQueue: nil)
            defer { session.finishTasksAndInvalidate() }
            let request = server.request {
                $0.method = .post
                $0.body = .text("hello")
            }
            let response = try await session.response(for: request, config: .silent) {
                $0.taskDelegate = place == .task ? delegate : nil
            }
            #expect(response.status == .unauthorized)
            #expect(try response.text() == "who are you?")
            #expect(response.attempts.count == 1)
            #expect(delegate.sent.withLock { $0 } == [5])
        }
    }

    @Test func `stored credentials are not used`() async throws {
        try await Loopback.serving { _ in
            .challenge()
        } _: { server in
            let url = try #require(server.request().url)
            let space = URLProtectionSpace(
                host: url.host() ?? "", port: url.port ?? 0, protocol: "http", realm: "r",
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
            let credential = URLCredential(user: "ada", password: "secret", persistence: .forSession)
            server.session.configuration.urlCredentialStorage?.setDefaultCredential(credential, for: space)
            let response = try await server.get()
            #expect(response.status == .unauthorized)
            #expect(response.attempts.count == 1)
        }
    }
    #else
    @Test(arguments: Place.allCases) func `a delegate responds to a challenge`(place: Place) async throws {
        let delegate = ChallengeDelegate()
        try await Loopback.serving { request in
            request.headers[.authorization] == nil ? .challenge() : .json("{}")
        } _: { server in
            let session = URLSession(
                configuration: .ofTests, delegate: place == .session ? delegate : nil, delegateQueue: nil)
            defer { session.finishTasksAndInvalidate() }
            let response = try await session.response(for: server.request(), config: .silent) {
                $0.taskDelegate = place == .task ? delegate : nil
            }
            #expect(response.status == .ok)
        }
    }
    #endif

    @Test func `a delegate is not asked about redirects and new streams`() async throws {
        let delegate = AskedDelegate()
        try await Origins.serving { origins in
            let redirected = try await origins.a.response(for: origins.a.request(to: "/end", 307)) {
                $0.taskDelegate = delegate
            }
            #expect(redirected.status == .ok)
            let streamed = origins.a.request(to: "/end", 307) {
                $0.method = .post
                $0.modify = { $0.httpBodyStream = InputStream(data: Data("content".utf8)) }
            }
            await expectError(.requestBodyStreamExhausted) {
                try await origins.a.response(for: streamed) { $0.taskDelegate = delegate }
            }
        }
        #expect(!delegate.isAsked.withLock { $0 })
    }
}

#if !canImport(FoundationNetworking)
private final class ChallengeDelegate: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        completionHandler(.useCredential, URLCredential(user: "ada", password: "secret", persistence: .none))
    }
}
#endif

private final class UploadDelegate: NSObject, URLSessionTaskDelegate {
    /// The expected number of bytes in each report.
    let sent = Locked<[Int64]>([])

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        sent.withLock { $0.append(totalBytesExpectedToSend) }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        Issue.record("the challenge is a response")
        completionHandler(.useCredential, URLCredential(user: "ada", password: "secret", persistence: .none))
    }
}

private final class AskedDelegate: NSObject, URLSessionTaskDelegate {
    let isAsked = Locked(false)

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        isAsked.set(\.self, true)
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        isAsked.set(\.self, true)
        completionHandler(InputStream(data: Data("content again".utf8)))
    }
}
