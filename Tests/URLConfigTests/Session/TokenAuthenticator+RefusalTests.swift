import FlyingFox
import Testing

@testable import URLConfig

/// The reason of a refusal, and the credentials that were refused.
@Suite(.timeLimit(.minutes(10))) struct TokenAuthenticatorRefusalTests {
    private typealias Token = TokenAuthenticator.Token

    /// The error of a call whose request the server refuses.
    private func refusal(
        _ server: Loopback, _ authenticator: TokenAuthenticator?, _ journal: Journal = Journal(),
        _ configure: (inout URLRequest.Config) -> Void = { _ in }
    ) async throws -> RequestError {
        let error = await #expect(throws: RequestError.self) {
            try await server.session.response(for: .with(server.config, configure)) {
                $0.logger = nil
                $0.authenticator = authenticator
                $0.onUnauthorized = { await journal.note("\($0.status.code)") }
            }
        }
        #expect(error?.code == .unauthorized)
        return try #require(error)
    }

    private func refusing(_ body: (Loopback) async throws -> Void) async throws {
        try await Loopback.serving({ _ in .status(.unauthorized) }, body)
    }

    /// An authenticator that must not refresh its token.
    private func authenticator(
        hosts: Set<String> = ["127.0.0.1"],
        authorization: @escaping @Sendable (String) -> Authorization = { .bearer($0) },
        _ token: String? = "t0k3n"
    ) -> TokenAuthenticator {
        TokenAuthenticator(hosts: hosts, authorization: authorization) {
            token.map { Token($0) }
        } refresh: { _ in
            Issue.record("no token was refused")
            return nil
        }
    }

    @Test func `a request to another host says that no credentials were sent, and signs nobody out`() async throws {
        let journal = Journal()
        try await refusing { server in
            for hosts: Set<String> in [
                ["api.example.com"], ["b.example", "a.example"], ["127.0.0.1:1"], ["evil@127.0.0.1"],
            ] {
                let names = hosts == ["evil@127.0.0.1"] ? "no host" : hosts.sorted().joined(separator: ", ")
                let error = try await refusal(server, authenticator(hosts: hosts), journal)
                #expect(
                    error.reason
                        == "no credentials were sent: 127.0.0.1 is not one of the authenticator's hosts (\(names))")
            }
        }
        #expect(await journal.entries.isEmpty)
    }

    @Test(arguments: [true, false])
    func `own credentials that are refused while nobody is signed in are no sign-out, and ask for no token`(
        isSignedOut: Bool
    ) async throws {
        struct Locked: Error {}
        let journal = Journal()
        let authenticator = TokenAuthenticator(hosts: ["127.0.0.1"]) {
            throw Locked()
        } refresh: { _ in
            nil
        }
        if isSignedOut { await authenticator.setToken(nil) }
        try await refusing { server in
            let error = try await refusal(server, authenticator, journal) {
                $0.authorization = .basic(username: "ada", password: "wrong")
            }
            #expect(error.reason.hasPrefix("the server refused the request's own Authorization"))
        }
        #expect(await journal.entries.isEmpty)
    }

    @Test func `a task that load leaves behind has the token later`() async throws {
        let (left, gate) = (Locked<Task<String, any Error>?>(nil), Gate())
        let box = Locked<TokenAuthenticator?>(nil)
        try await Loopback.serving { request in
            let field = request.headers[.authorization] ?? "none"
            return field == "Bearer new" || field == "none" ? .json(field) : .status(.unauthorized)
        } _: { server in
            let call = { @Sendable in
                try await server.session.response(for: .with(server.config)) {
                    $0.logger = nil
                    $0.authenticator = box.withLock { $0 }
                    $0.onUnauthorized = { _ in Issue.record("nobody is signed out") }
                }
            }
            let authenticator = TokenAuthenticator(hosts: ["127.0.0.1"]) {
                left.set(
                    \.self,
                    Task {
                        await gate.pass()
                        return try await call().text()
                    })
                return Token("old")
            } refresh: { _ in
                gate.open()
                // By now, the detached task waits for this refresh, or will have its token.
                for _ in 0..<100 { await Task.yield() }
                return Token("new")
            }
            box.set(\.self, authenticator)
            let text = try await call().text()
            #expect(text == "Bearer new")
            let later = try await left.withLock { $0 }?.value
            #expect(later == "Bearer new")
        }
    }

    @Test func `a refusal by another host does not keep the user from being signed out`() async throws {
        let journal = Journal()
        try await refusing { server in
            let authenticator = TokenAuthenticator(hosts: ["127.0.0.1"]) {
                nil
            } refresh: { _ in
                nil
            }
            let other = URLRequest.with(.init(host: server.host.replacing("127.0.0.1", with: "localhost"))) { _ in }
            await #expect(throws: RequestError.self) {
                try await server.session.response(for: other) {
                    $0.logger = nil
                    $0.authenticator = authenticator
                }
            }
            _ = try await refusal(server, authenticator, journal)
        }
        #expect(await journal.entries == ["401"])
    }

    @Test func `a request without a token says why there was none`() async throws {
        try await refusing { server in
            let signedOut = authenticator()
            await signedOut.setToken(nil)
            let stale = TokenAuthenticator(hosts: ["127.0.0.1"]) {
                Token("old")
            } refresh: { _ in
                nil
            }
            #expect(try await refusal(server, stale).reason == "the server refused the credentials")
            for (authenticator, reason) in [
                (authenticator(nil), "no credentials were sent: the authenticator's 'load' returned no token"),
                (signedOut, "no credentials were sent: setToken(nil) has signed the user out"),
                (
                    stale,
                    "no credentials were sent: the authenticator's 'refresh' returned no new token, nor did 'load'"
                ),
            ] {
                let error = try await refusal(server, authenticator)
                #expect(error.reason == reason)
                #expect("\(error)" == "unauthorized: GET \(server.host) answered 401: \(reason)")
            }
        }
    }

    @Test func `without an authenticator, a request without Authorization says so`() async throws {
        try await refusing { server in
            #expect(
                try await refusal(server, nil).reason
                    == "the request has no Authorization, and the call has no authenticator")
            let error = try await refusal(server, nil) { $0.authorization = .bearer("abc") }
            #expect(error.reason == "the server refused the credentials")
        }
    }

    @Test(arguments: ["other", "t0k3n"])
    func `the request's own credentials are sent, and their refusal is not the token's`(own: String) async throws {
        let (journal, sent) = (Journal(), Locked<[String?]>([]))
        try await Loopback.serving { request in
            sent.withLock { $0.append(request.headers[.authorization]) }
            return .status(.unauthorized)
        } _: { server in
            // Before and after the authenticator has written a token.
            let authenticator = authenticator()
            for _ in 0..<2 {
                let error = try await refusal(server, authenticator, journal) { $0.authorization = .bearer(own) }
                let field = "the request's own Authorization"
                #expect(error.reason == "the server refused \(field), which the authenticator does not replace")
                #expect(error.attempts.count == 1)
            }
            #expect(try await authenticator.sent(host: server.host) == "Bearer t0k3n")
        }
        #expect(sent.withLock { $0 } == ["Bearer \(own)", "Bearer \(own)"])
        #expect(await journal.entries.isEmpty)
    }

    @Test func `own credentials are those in the field that the authenticator writes`() async throws {
        let name = HTTPField.Name("X-Api-Key")!
        let sent = Locked<[[String?]]>([])
        try await Loopback.serving { request in
            sent.withLock { $0.append([request.headers[HTTPHeader("X-Api-Key")], request.headers[.authorization]]) }
            return .status(.ok)
        } _: { server in
            let authenticator = authenticator { key in Authorization { $0[name] = key } }
            for field in [name, .authorization] {
                let request = URLRequest.with(server.config) { $0.headers[field] = "own" }
                let response = try await server.session.response(for: request) {
                    $0.logger = nil
                    $0.authenticator = authenticator
                }
                #expect(response.isSuccess)
            }
        }
        #expect(sent.withLock { $0 } == [["own", nil], ["t0k3n", "own"]])
    }

    @Test func `what an authenticator has put on a request is not its own after a redirect or a retry`() async throws {
        let sent = Locked<[String]>([])
        try await Loopback.serving { request in
            let count = sent.withLock { sent in
                sent.append(request.headers[.authorization] ?? "none")
                return sent.count
            }
            switch count {
            case 1: return .init(statusCode: .found, headers: HTTPHeaders([.location: "/next"]))
            case 2: return .status(.serviceUnavailable)
            case 3: return .status(.unauthorized)
            default: return .json("{}")
            }
        } _: { server in
            let authenticator = TokenAuthenticator(hosts: ["127.0.0.1"]) {
                Token("old")
            } refresh: { _ in
                Token("new")
            }
            let response = try await server.session.response(for: .with(server.config) { _ in }) {
                $0.logger = nil
                $0.authenticator = authenticator
                $0.retry = .atOnce()
            }
            #expect(response.isSuccess)
        }
        #expect(sent.withLock { $0 } == ["Bearer old", "Bearer old", "Bearer old", "Bearer new"])
    }

    @Test func `a request with credentials of its own does not wait for a refresh`() async throws {
        let gate = Gate()
        try await Loopback.serving { request in
            .status(request.headers[.authorization] == "Basic YTpi" ? .ok : .unauthorized)
        } _: { server in
            let authenticator = TokenAuthenticator(hosts: ["127.0.0.1"]) {
                Token("old")
            } refresh: { _ in
                await gate.pass()
                return nil
            }
            async let refused = refusal(server, authenticator)
            await gate.waitForArrivals()
            let request = URLRequest.with(server.config) { $0.authorization = .basic(username: "a", password: "b") }
            let response = try await server.session.response(for: request) {
                $0.logger = nil
                $0.authenticator = authenticator
            }
            #expect(response.isSuccess)
            gate.open()
            _ = try await refused
        }
    }
}
