import Testing
import URLConfigTesting

@testable import URLConfig

struct NotesAccount: Sendable {
    let keychain: Keychain
    let authenticator: TokenAuthenticator

    init(_ keychain: Keychain) {
        self.keychain = keychain
        authenticator = TokenAuthenticator(hosts: [NotesService.host]) {
            keychain.token.map { .init($0) }
        } refresh: { refused in
            let request = URLRequest.with(.notes) {
                $0.method = .post
                $0.path = "/session/refresh"
                $0.body["token"] = refused.value
            }
            let response = try await URLSession.shared.response(for: request)
            if response.status == .forbidden { return nil }
            let grant = try response.decode(Grant.self, orThrow: ServiceError.self)
            try Task.checkCancellation()  // the user has signed out
            keychain.token = grant.accessToken
            return .init(grant.accessToken)
        }
    }

    func signIn(as name: String, password: String) async throws {
        let request = URLRequest.signIn(as: name, password: password)
        let response = try await URLSession.shared.response(for: request) { $0.authorize = false }
        await setToken(try response.decode(Grant.self, orThrow: ServiceError.self).accessToken)
    }

    /// Signs the user out with `nil`.
    func setToken(_ token: String?) async {
        await authenticator.setToken(nil)
        keychain.token = token
        if let token { await authenticator.setToken(.init(token)) }
    }
}

/// Where an app keeps its token.
final class Keychain: Sendable {
    private let box = Locked<String?>(nil)

    var token: String? {
        get { box.withLock { $0 } }
        set { box.withLock { $0 = newValue } }
    }
}

/// A service whose tokens are valid for two requests each; the second one cannot be refreshed.
@Suite(
    .inTime,
    .silentByDefault,
    .stubs {
        $0.post("/v1/session", .json(#"{"access_token":"1"}"#))
        $0.post("/v1/session/refresh", .json(#"{"access_token":"2"}"#)).json(#"{"token":"1"}"#)
        $0.post("/v1/session/refresh", .status(.forbidden)).json(#"{"token":"2"}"#)
        for token in ["Bearer 1", "Bearer 2"] {
            let note = HTTPStubs.Response.json(#"{"id":7,"title":"Foxes"}"#)
            $0.get("/v1/notes/7", note, note, .status(.unauthorized)).field(.authorization, token)
        }
    }) struct AccountTests
{
    @Test func `tokens that expire`() async throws {
        let keychain = Keychain()
        try await URLSession.Config.withHosts([NotesService.host: .notes]) {
            let account = NotesAccount(keychain)
            let signedIn = URLSession.Config.notes.with { $0.authenticator = account.authenticator }
            try await account.signIn(as: "ada", password: "engine")
            let request = URLRequest.with(.notes) { $0.path = "/notes/7" }
            let note: Note = try await URLSession.shared.response(for: request, config: signedIn).decode()
            #expect(note == Note(id: 7, title: "Foxes"))

            for _ in 0..<3 { try await URLSession.shared.response(for: request, config: signedIn).validated() }
            #expect(keychain.token == "2")
            await expectError(.unauthorized) { try await URLSession.shared.response(for: request, config: signedIn) }
            await account.setToken(nil)
            #expect(keychain.token == nil)
        }
        #expect(
            zip(HTTPStubs.requests, HTTPStubs.fields("Authorization")).map { "\($0.url.path()) \($1 ?? "nobody")" }
                == [
                    "/v1/session Basic YWRhOmVuZ2luZQ==",
                    "/v1/notes/7 Bearer 1", "/v1/notes/7 Bearer 1", "/v1/notes/7 Bearer 1",
                    "/v1/session/refresh nobody",
                    "/v1/notes/7 Bearer 2", "/v1/notes/7 Bearer 2", "/v1/notes/7 Bearer 2",
                    "/v1/session/refresh nobody",
                ])
    }
}
