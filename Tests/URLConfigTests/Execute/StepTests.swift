import Testing

@testable import URLConfig

/// What follows an attempt, without a network.
@Suite struct StepTests {
    private static let request = URLRequest.with(.init(host: "https://a.example")) { $0.path = "/start" }

    private func next(
        after outcome: Result<Received, any Error>, of sent: URLRequest = request, from step: Step = Step(request),
        remaining: Duration? = nil, with configure: (inout URLSession.Config) -> Void = { _ in }
    ) throws -> Step {
        try step.next(after: outcome, of: sent, URLSession.Config.silent.with(configure), remaining: remaining)
    }

    private func response(
        _ status: HTTPResponse.Status, _ fields: HTTPFields = [:]
    ) -> Result<Received, any Error> {
        .success(Received(response: .init(request: Self.request, status: status, headerFields: fields)))
    }

    /// A step of a request with this method and, perhaps, a stream of the caller's.
    private func step(_ method: String = "GET", streams: Bool = false) -> Step {
        var request = Self.request
        request.httpMethod = method
        if streams { request.httpBodyStream = InputStream(data: Data("content".utf8)) }
        return Step(request)
    }

    private let lost = Result<Received, any Error>.failure(URLError(.init(), of: request))
    private let retries: (inout URLSession.Config) -> Void = { $0.retry = .standard }

    @Test func `a kept connection that is lost is tried again a few times, before a retry`() throws {
        var step = Step(Self.request)
        for number in 1...Step.mostRepetitions {
            step = try next(after: lost, from: step, with: retries)
            #expect(step.name == "send" && step.repetitions == number && step.attempts == 1)
            #expect(step.note == "again on another connection")
        }
        #expect(try next(after: lost, from: step, with: retries).name == "wait")
        #expect(try next(after: lost, from: step).name == "end")
        #expect(try next(after: .failure(URLError(.timedOut))).name == "end")
        #expect(try next(after: .failure(URLError(.networkConnectionLost))).name == "end")
    }

    @Test func `a request with an expectation, which may have been refused, is repeated once`() throws {
        var sent = Self.request
        sent.setValue("100-continue", forHTTPHeaderField: "Expect")
        let step = try next(after: lost, of: sent)
        #expect(step.name == "send" && step.repetitions == 1)
        #expect(try next(after: lost, of: sent, from: step).name == "end")
    }

    @Test func `a connection that breaks off while the body is sent may be a new one: repeated once`() throws {
        let error = URLError(Transport.LostConnection(brokeOff: true), of: Self.request)
        let broken = Result<Received, any Error>.failure(error)
        let step = try next(after: broken, from: try next(after: lost))
        #expect(step.name == "send" && step.repetitions == 2 && step.brokeOff)
        #expect(try next(after: broken, from: step).name == "end")
    }

    @Test func `a damaged response is requested again once`() throws {
        let damaged = Result<Received, any Error>.failure(URLError(.cannotDecodeRawData).withDamageMark)
        let step = try next(after: damaged)
        #expect(step.name == "send" && step.repetitions == 1)
        #expect(try next(after: damaged, from: step).name == "end")
    }

    @Test(arguments: ["POST", "PATCH", "CONNECT"])
    func `a method that is not idempotent is not repeated, even if only the authenticator set it`(method: String) throws
    {
        let sent = step(method).request
        let error = URLError(.init(underlyingError: CocoaError(.fileNoSuchFile)), of: sent)
        #expect(!error.isLostConnection && error.errorUserInfo[NSUnderlyingErrorKey] is CocoaError)
        #expect(try next(after: lost, of: sent).name == "end")
        #expect(try next(after: lost, of: sent, with: retries).note == "not retried: \(method) without idempotencyKey")
        #expect(try next(after: response(.serviceUnavailable), from: step(method), with: retries).name == "end")
    }

    @Test func `a stream of the caller's is not sent again`() throws {
        let step = step("PUT", streams: true)
        for outcome in [lost, response(.serviceUnavailable)] {
            let next = try next(after: outcome, from: step, with: retries)
            #expect(next.name == "end")
            #expect(next.note == "not retried: the body can be sent once, and was sent")
        }
        let error = #expect(throws: URLError.self) {
            try next(after: response(.temporaryRedirect, [.location: "/next"]), from: step)
        }
        #expect(error?.code == .requestBodyStreamExhausted)
    }

    @Test(arguments: [("/next", false), ("https://b.example/next", true), ("http://a.example/next", true)])
    func `a redirect is followed, and a new origin is foreign from then on`(location: String, isForeign: Bool) throws {
        var step = Step(Self.request)
        step.repetitions = 1
        let next = try next(after: response(.found, [.location: location]), from: step)
        #expect(next.name == "redirect")
        #expect(next.request.url?.path() == "/next")
        #expect(next.redirects == 1)
        #expect(next.isForeign == isForeign)
        #expect(next.repetitions == 0)
    }

    @Test(arguments: [("next", false), ("https://eu.example/v2/next", false), ("https://a.example/v2/next", true)])
    func `a redirect comes from the URL that an authenticator has set`(location: String, isForeign: Bool) throws {
        var sent = Self.request
        sent.url = URL(string: "https://eu.example/v2/start")
        let next = try next(after: response(.temporaryRedirect, [.location: location]), of: sent)
        #expect(next.request.url?.host() == (isForeign ? "a.example" : "eu.example"))
        #expect(next.request.url?.path() == "/v2/next")
        #expect(next.isForeign == isForeign)
    }

    @Test(arguments: [(HTTPResponse.Status.temporaryRedirect, true), (.seeOther, false)])
    func `the body of an upload is kept or dropped, as the status says`(
        status: HTTPResponse.Status, isKept: Bool
    ) throws {
        var step = step("POST")
        step.body = .data(Data("body".utf8))
        let redirect = response(status, [.location: "/next"])
        let next = try next(after: redirect, from: step)
        #expect((next.body != nil) == isKept)
        #expect(next.request.httpBodyStream == nil)
        #expect(next.request.httpMethod == (isKept ? "POST" : "GET"))
        let emptying = RedirectPolicy { _, next in
            var next = next
            next.httpBodyStream = nil
            return next
        }
        #expect(try self.next(after: redirect, from: step, with: { $0.redirects = emptying }).body == nil)
    }

    @Test func `hosts in upper and in lower case share the budget of retries`() {
        #expect(Step(.with(.init(host: "https://A.Example"))).host == "a.example")
    }

    @Test func `refused credentials are renewed before a retry, but not for another origin`() throws {
        let configure: (inout URLSession.Config) -> Void = {
            $0.onUnauthorized = { _ in }
            $0.retry = .standard
            $0.retry.statuses = [.unauthorized]
        }
        #expect(try next(after: response(.unauthorized), with: configure).name == "renew")
        let foreign = Step(Self.request, isForeign: true)
        #expect(try next(after: response(.unauthorized), from: foreign, with: configure).name == "wait")
    }

    @Test func `a retry waits as the server asks, if the deadline and the attempts allow it`() throws {
        let busy = response(.serviceUnavailable, [.retryAfter: "3"])
        let step = try next(after: busy, with: retries)
        if case .wait(let delay) = step.kind { #expect(delay == .seconds(3)) }
        #expect(step.name == "wait" && step.note == "waiting 3.0 s: Retry-After" && step.attempts == 2)
        let late = try next(after: busy, remaining: .seconds(2), with: retries)
        #expect(late.name == "end")
        #expect(late.note == "not retried: the deadline would pass before the delay, 3.0 s: Retry-After")
        var last = Step(Self.request)
        last.attempts = 3
        let end = try next(after: busy, from: last, with: retries)
        #expect(end.name == "end" && end.note == nil)
    }
}

extension Step {
    fileprivate var name: String {
        switch kind {
        case .send: "send"
        case .redirect: "redirect"
        case .renew: "renew"
        case .wait: "wait"
        case .end: "end"
        }
    }
}
