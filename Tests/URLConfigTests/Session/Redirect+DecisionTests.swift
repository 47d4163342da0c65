import FlyingFox
import Testing

@testable import URLConfig

/// A redirect is decided by the policy's function and then by the caller's delegate.
@Suite(.serialized, .timeLimit(.minutes(10))) struct RedirectDecisionTests {
    private struct NotThere: Error {}

    @Test func `a function is shown the redirect and what would follow, without the credentials of another origin`()
        async throws
    {
        try await Origins.serving { origins in
            let request = origins.a.request(to: origins.b.host, 307) { $0.authorization = .bearer("secret") }
            try await origins.a.response(for: request) {
                $0.redirects = RedirectPolicy { response, next in
                    #expect(response.status == .temporaryRedirect)
                    #expect(response.data == Data("307 of a".utf8))
                    #expect(next.urlText == origins.b.host)
                    #expect(next.field("Authorization") == nil)
                    return next
                }
            }
            #expect(origins.seen.map(\.origin) == ["a", "b"])
        }
    }

    @Test func `a function may change what follows`() async throws {
        try await Origins.serving { origins in
            let response = try await origins.a.response(for: origins.a.request(to: "/end")) {
                $0.redirects = RedirectPolicy { _, next in
                    var next = next
                    next.url = URL(string: origins.b.host)
                    next.setValue("own", forHTTPHeaderField: "X-Own")
                    return next
                }
                $0.authenticator = PlainAuthenticator()
            }
            #expect(response.data == Data("200 of b".utf8))
            #expect(origins.seen.map { $0.field("X-Own") } == [nil, "own"])
            #expect(origins.seen.map { $0.field("Authorization") } == ["secret", nil])
        }
    }

    @Test func `a function that returns nothing makes the redirect the answer`() async throws {
        try await Origins.serving { origins in
            let response = try await origins.a.response(for: origins.a.request(to: "/end")) {
                $0.redirects = RedirectPolicy { _, _ in nil }
            }
            #expect(response.status == .found)
            #expect(response.data == Data("302 of a".utf8))
            #expect(origins.seen.count == 1)
        }
    }

    @Test func `what a function throws passes as it is`() async throws {
        try await Origins.serving { origins in
            await #expect(throws: NotThere.self) {
                try await origins.a.response(for: origins.a.request(to: "/end")) {
                    $0.redirects = RedirectPolicy { _, _ in throw NotThere() }
                }
            }
            #expect(origins.seen.count == 1)
        }
    }

    @Test(arguments: ["file:///etc/passwd", "ftp://a/x"])
    func `a function cannot lead away from HTTP`(location: String) async throws {
        try await Origins.serving { origins in
            let error = await #expect(throws: RequestError.self) {
                try await origins.a.response(for: origins.a.request(to: "/end")) {
                    $0.redirects = RedirectPolicy { _, next in
                        var next = next
                        next.url = URL(string: location)
                        return next
                    }
                }
            }
            #expect(error?.code == .refusedRedirect)
            #expect(origins.seen.count == 1)
        }
    }
}

private struct PlainAuthenticator: Authenticator {
    func authorize(_ request: inout URLRequest) async throws {
        request.setValue("secret", forHTTPHeaderField: "Authorization")
    }
}
