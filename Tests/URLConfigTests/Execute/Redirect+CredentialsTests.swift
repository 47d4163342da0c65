import FlyingFox
import Testing

@testable import URLConfig

/// Credentials are sent only to their origin.
@Suite(.serialized, .inTime) struct RedirectCredentialsTests {
    private let origins: Origins

    init() async throws { origins = try await Origins() }

    private static let credentials =
        [
            "Authorization", "Cookie", "X-Api-Key", "Proxy-Authorization", "X-Tenant", "X-Apikey-Id", "X-Token-Id",
            "X-Ticket-Id", "X-Hmac-Date",
        ] + traces
    /// Fields that tell who the user is, or where the user was.
    private static let traces = [
        "traceparent", "tracestate", "Baggage", "b3", "X-B3-TraceId", "uber-trace-id", "x-amzn-trace-id",
        "X-Cloud-Trace-Context", "sentry-trace", "x-datadog-tags", "Last-Event-ID",
    ]

    /// What the first origin receives: the server transport sends no origin the credentials of a proxy.
    private static func atHome(_ name: String) -> String? {
        TransportOfTests.isAsyncHTTPClient && name == "Proxy-Authorization" ? nil : "secret"
    }

    /// A request with credentials that the caller has set.
    private func request(to location: String) -> URLRequest {
        origins.a.request(to: location, 307) {
            $0.method = .post
            $0.body = .text("content")
            $0.headers[.accept] = "text/plain"
            $0.modify = { request in
                for name in Self.credentials { request.setValue("secret", forHTTPHeaderField: name) }
            }
        }
    }

    @Test func `they are not sent either to a URL that the caller's function chooses`() async throws {
        let elsewhere = URL(string: origins.b.host)
        try await origins.a.response(for: request(to: "/end")) {
            $0.redaction = .standard.adding("x-tenant")
            $0.redirects = RedirectPolicy { _, next in
                var next = next
                next.url = elsewhere
                return next
            }
        }
        #expect(origins.seen.map(\.origin) == ["a", "b"])
        for name in Self.credentials {
            #expect(origins.seen.map { $0.field(name) } == [Self.atHome(name), nil])
        }
    }

    @Test(arguments: [["b"], ["b", "b"], ["b", "a"], ["a", "b", "a", "a"]])
    func `the caller's own go to their origin, and are dropped once another one was reached`(way: [String]) async throws
    {
        let servers = ["a": origins.a, "b": origins.b]
        let location = try way.reversed().reduce(nil as String?) { location, name in
            let server = try #require(servers[name])
            return location.map { server.hop(to: $0, 307) } ?? server.host
        }
        let request = request(to: try #require(location))
        try await origins.a.response(for: request) { $0.redaction = .standard.adding("x-tenant") }
        #expect(origins.seen.map(\.origin) == ["a"] + way)
        let home = origins.seen.prefix { $0.origin == "a" }
        for seen in origins.seen {
            #expect(seen.body == "content")
            #expect(seen.field("Accept") == "text/plain")
        }
        for name in Self.credentials {
            #expect(home.allSatisfy { $0.field(name) == Self.atHome(name) })
            #expect(origins.seen.dropFirst(home.count).allSatisfy { $0.field(name) == nil }, "\(name)")
        }
    }

    @Test func `an authenticator's credentials are added again for the same origin only`() async throws {
        let authenticator = CountingAuthenticator()
        let home = origins.a.hop(to: origins.a.host)
        let location = origins.a.hop(to: origins.b.hop(to: origins.b.hop(to: home)))
        try await origins.a.response(for: origins.a.request(to: location)) { $0.authenticator = authenticator }
        #expect(origins.seen.map(\.origin) == ["a", "a", "b", "b", "a", "a"])
        #expect(origins.seen.map { $0.field("Authorization") } == ["1", "2", nil, nil, nil, nil])
        #expect(authenticator.asked == 2)
    }

    @Test(arguments: ["b", "a"], [true, false])
    func `a refusal of another origin, or after one, is a response`(last: String, isTwice: Bool) async throws {
        let authenticator = CountingAuthenticator()
        let server = last == "b" ? origins.b : origins.a
        let refused = isTwice ? server.hop(to: "/end?status=401") : server.host + "?status=401"
        let location = last == "b" ? refused : origins.b.hop(to: refused)
        let response = try await origins.a.response(for: origins.a.request(to: location)) {
            $0.authenticator = authenticator
            $0.onUnauthorized = { _ in Issue.record("nobody's credentials were refused") }
        }
        #expect(response.status == .unauthorized)
        #expect(response.data == Data("401 of \(last)".utf8))
        #expect(authenticator.refused == 0)
    }

    @Test func `a refusal of the same origin after a redirect throws`() async throws {
        let authenticator = CountingAuthenticator()
        let refusals = Recorder<Int>()
        let request = origins.a.request(to: "/end?status=401")
        await expectError(.unauthorized) {
            try await origins.a.response(for: request) {
                $0.authenticator = authenticator
                $0.onUnauthorized = { refusals.note($0.status.code) }
            }
        }
        #expect(origins.seen.map { $0.field("Authorization") } == ["1", "2", "3"])
        #expect(authenticator.refused == 1)
        #expect(refusals.entries == [401])
    }

    @Test func `those that a session adds to every request are sent to the first origin only`() async throws {
        try await URLSession.with {
            $0.httpAdditionalHeaders = [
                "Authorization": "secret", "X-Api-Key": "secret", "X-Other": "other", "traceparent": "secret",
            ]
        } _: {
            try await $0.response(for: origins.a.request(to: origins.b.hop(to: origins.b.host)), config: .silent)
        }
        #expect(origins.seen.map { $0.field("X-Other") } == ["other", "other", "other"])
        for name in ["Authorization", "X-Api-Key", "traceparent"] {
            #expect(origins.seen.map { $0.field(name) } == ["secret", nil, nil], "\(name)")
        }
    }
}
