import FlyingFox
import Testing

@testable import URLConfig

/// A caller's delegate that never responds.
@Suite(.urlSessionOnly, .timeLimit(.minutes(10))) struct CallerDelegateSilenceTests {
    /// The question that the delegate never responds to.
    enum Question: CaseIterable { case challenge, redirect, stream }

    /// Makes a call whose delegate never responds; `body` receives the call when the delegate was asked.
    private func call(
        _ question: Question, timeout: Duration? = nil,
        _ body: (TestClock, Task<DataResponse, any Error>) async throws -> Void
    ) async throws {
        let clock = TestClock()
        let delegate = SilentDelegate(question)
        try await Loopback.serving { _ in
            question == .challenge ? .challenge() : .redirect(.temporaryRedirect, to: "/")
        } _: { server in
            let request = server.request {
                $0.timeout = timeout
                guard question == .stream else { return }
                $0.method = .post
                $0.modify = { $0.httpBodyStream = InputStream(data: Data("streamed".utf8)) }
            }
            let call = Task {
                try await server.response(for: request) {
                    $0.clock = clock
                    $0.taskDelegate = delegate
                }
            }
            try await waitUntil { delegate.isAsked.withLock { $0 } }
            try await body(clock, call)
        }
    }

    @Test(arguments: Question.allCases, [.seconds(200), nil] as [Duration?])
    func `the request's time limit is that of the delegate, too`(question: Question, timeout: Duration?) async throws {
        try await call(question, timeout: timeout) { clock, call in
            let isOver = Locked(false)
            let watch = Task {
                defer { isOver.set(\.self, true) }
                return try await call.valueInTime
            }
            // Without a time limit, the configuration's limit for silence.
            let limit = timeout ?? .seconds(600)
            var advances = 0
            try await waitUntil {
                if clock.sleepers > 0 {
                    clock.advance(by: limit)
                    advances += 1
                }
                return isOver.withLock { $0 }
            }
            let error = await #expect(throws: URLError.self) { try await watch.valueInTime }
            #expect(error?.code == .timedOut)
            #expect(clock.asked.last == limit)
            // The sleepers of the attempt and of an earlier question may still exist when the last one begins.
            #expect(advances <= 3)
        }
    }

    @Test(arguments: Question.allCases)
    func `a task that is cancelled waits no longer`(question: Question) async throws {
        try await call(question) { _, call in
            call.cancel()
            await #expect(throws: CancellationError.self) { try await call.valueInTime }
        }
    }
}

/// Never responds to one of its questions.
private final class SilentDelegate: NSObject, URLSessionTaskDelegate {
    let isAsked = Locked(false)
    private let question: CallerDelegateSilenceTests.Question

    init(_ question: CallerDelegateSilenceTests.Question) {
        self.question = question
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        isAsked.set(\.self, true)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        if question == .stream { completionHandler(request) } else { isAsked.set(\.self, true) }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        isAsked.set(\.self, true)
    }
}
