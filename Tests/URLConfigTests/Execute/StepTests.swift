import Foundation
import Testing

@testable import URLConfig

/// What follows an attempt, without a network.
@Suite struct StepTests {
    private static let request = URLRequest.with(.init(host: "https://a.example")) { $0.path = "/start" }

    private func next(
        after outcome: Outcome, of sent: URLRequest = request, from hop: Hop = Hop(request: request),
        remaining: Duration? = nil, with configure: (inout URLSession.Config) -> Void = { _ in }
    ) throws -> Step {
        var config = URLSession.Config.silent
        configure(&config)
        return try Step.next(after: outcome, of: sent, hop, config, remaining: remaining)
    }

    private func response(_ status: HTTPResponse.Status, _ fields: HTTPFields = [:]) -> Outcome {
        let response = DataResponse(request: Self.request, url: nil, status: status, headerFields: fields)
        return Outcome(result: .success(Received(response: response)))
    }

    private let lost = Outcome(result: .failure(URLError(.networkConnectionLost)), isLost: true)

    @Test(arguments: [HTTPResponse.Status.ok, .found, .unauthorized, .serviceUnavailable, .notFound])
    func `without settings and a location, every response is the last one`(status: HTTPResponse.Status) throws {
        #expect(try next(after: response(status)).name == "done")
    }

    @Test func `a lost connection is tried again once, before a retry`() throws {
        let step = try next(after: lost, with: { $0.retry = .standard })
        let hop = try #require(step.hop)
        #expect(step.name == "repeat" && hop.isRepeated && hop.attempts == 1)
        #expect(try next(after: lost, from: hop, with: { $0.retry = .standard }).name == "retry")
        #expect(try next(after: lost, from: hop).name == "done")
    }

    @Test(arguments: ["POST", "PATCH", "QUERY"])
    func `a method that is not idempotent is not repeated, even if only the authenticator set it`(method: String) throws
    {
        var sent = Self.request
        sent.httpMethod = method
        #expect(try next(after: lost, of: sent).name == "done")
    }

    @Test func `a stream of the caller's is not sent again`() throws {
        var request = Self.request
        request.httpBodyStream = InputStream(data: Data("content".utf8))
        let hop = Hop(request: request)
        for outcome in [lost, response(.serviceUnavailable)] {
            #expect(try next(after: outcome, from: hop, with: { $0.retry = .standard }).name == "done")
        }
        let error = #expect(throws: URLError.self) {
            try next(after: response(.temporaryRedirect, [.location: "/next"]), from: hop)
        }
        #expect(error?.code == .requestBodyStreamExhausted)
    }

    @Test(arguments: [("/next", false), ("https://b.example/next", true), ("http://a.example/next", true)])
    func `a redirect is followed, and a new origin is foreign from then on`(location: String, isForeign: Bool) throws {
        var hop = Hop(request: Self.request)
        hop.isRepeated = true
        let step = try next(after: response(.found, [.location: location]), from: hop)
        let next = try #require(step.hop)
        #expect(step.name == "redirect")
        #expect(next.request.url?.path() == "/next")
        #expect(next.redirects == 1)
        #expect(next.isForeign == isForeign)
        #expect(!next.isRepeated)
        #expect(next.host == "a.example")
    }

    @Test(arguments: [(HTTPResponse.Status.temporaryRedirect, true), (.seeOther, false)])
    func `the body of an upload is kept or dropped, as the status says`(
        status: HTTPResponse.Status, isKept: Bool
    ) throws {
        var request = Self.request
        request.httpMethod = "POST"
        var hop = Hop(request: request)
        hop.body = .data(Data("body".utf8))
        let redirect = response(status, [.location: "/next"])
        let next = try #require(try next(after: redirect, from: hop).hop)
        #expect((next.body != nil) == isKept)
        #expect(next.request.httpBodyStream == nil)
        #expect(next.request.httpMethod == (isKept ? "POST" : "GET"))
        let emptying = RedirectPolicy { _, next in
            var next = next
            next.httpBodyStream = nil
            return next
        }
        let emptied = try #require(try self.next(after: redirect, from: hop, with: { $0.redirects = emptying }).hop)
        #expect(emptied.body == nil)
    }

    @Test func `the twenty-first redirect is refused, or returned if none is followed`() throws {
        var hop = Hop(request: Self.request)
        hop.redirects = 20
        let redirect = response(.found, [.location: "/next"])
        expectThrown(.refusedRedirect) { try next(after: redirect, from: hop) }
        #expect(try next(after: redirect, from: hop, with: { $0.redirects = .none }).name == "done")
    }

    @Test func `refused credentials are renewed before a retry, but not for another origin`() throws {
        let configure: (inout URLSession.Config) -> Void = {
            $0.onUnauthorized = { _ in }
            $0.retry = .standard
            $0.retry.statuses = [.unauthorized]
        }
        #expect(try next(after: response(.unauthorized), with: configure).name == "renew")
        let foreign = Hop(request: Self.request, isForeign: true)
        #expect(try next(after: response(.unauthorized), from: foreign, with: configure).name == "retry")
    }

    @Test func `a retry waits as the server asks, if the deadline and the attempts allow it`() throws {
        let busy = response(.serviceUnavailable, [.retryAfter: "3"])
        guard case .retry(let delay, let reason) = try next(after: busy, with: { $0.retry = .standard }) else {
            Issue.record("there is no retry")
            return
        }
        #expect(delay == .seconds(3))
        #expect(reason == "waiting 3.0 s: Retry-After")
        #expect(try next(after: busy, remaining: .seconds(2), with: { $0.retry = .standard }).name == "done")
        var last = Hop(request: Self.request)
        last.attempts = 3
        #expect(try next(after: busy, from: last, with: { $0.retry = .standard }).name == "done")
    }
}

extension Step {
    fileprivate var name: String {
        switch self {
        case .done: "done"
        case .repeat: "repeat"
        case .redirect: "redirect"
        case .renew: "renew"
        case .retry: "retry"
        }
    }

    /// What is sent next.
    fileprivate var hop: Hop? {
        switch self {
        case .repeat(let hop), .redirect(let hop, _): hop
        default: nil
        }
    }
}
