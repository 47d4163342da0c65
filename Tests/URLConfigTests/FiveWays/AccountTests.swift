import FlyingFox
import Testing

@testable import URLConfig

struct NotesAccount: Sendable {
    private let keychain: Keychain
    private let authenticator: TokenAuthenticator

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
            keychain.token = grant.token
            return .init(grant.token)
        }
    }

    /// How requests are sent that need somebody to be signed in.
    var config: URLSession.Config {
        URLSession.Config().with { $0.authenticator = authenticator }
    }

    func signIn(as name: String, password: String) async throws {
        let response = try await URLSession.shared.response(for: .signIn(as: name, password: password))
        let grant = try response.decode(Grant.self, orThrow: ServiceError.self)
        keychain.token = grant.token
        await authenticator.setToken(.init(grant.token))
    }

    func signOut() async {
        keychain.token = nil
        await authenticator.setToken(nil)
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

@Suite(.silentByDefault) struct AccountTests {
    /// Tokens are good for two requests; the third of them cannot be refreshed.
    private func serving(_ body: () async throws -> Void) async throws -> [String] {
        let journal = Journal()
        let uses = Locked(0)
        try await Loopback.serving { request in
            let credentials = request.headers[.authorization] ?? "nobody"
            await journal.note("\(request.method.rawValue) \(request.path) \(credentials)")
            switch request.path {
            case "/v1/session": return .json(#"{"token":"1"}"#)
            case "/v1/session/refresh":
                let refused = String(decoding: try await request.bodyData, as: UTF8.self)
                return refused == #"{"token":"1"}"# ? .json(#"{"token":"2"}"#) : .status(.forbidden)
            default:
                let count = uses.withLock {
                    $0 += 1
                    return $0
                }
                let isGood = credentials == (count <= 2 ? "Bearer 1" : "Bearer 2") && count <= 5
                return isGood ? .json(#"{"id":7,"title":"Foxes"}"#) : .status(.unauthorized)
            }
        } _: { server in
            try await NotesService.$host.withValue(server.host + "/v1") { try await body() }
        }
        return await journal.entries
    }

    @Test func `tokens that expire`() async throws {
        let keychain = Keychain()
        let asked = try await serving {
            let account = NotesAccount(keychain)
            try await account.signIn(as: "ada", password: "engine")
            let request = URLRequest.with(.notes) { $0.path = "/notes/7" }
            let note: Note = try await URLSession.shared.response(for: request, config: account.config).decode()
            #expect(note == Note(id: 7, title: "Foxes"))

            for _ in 0..<3 { try await URLSession.shared.response(for: request, config: account.config).validated() }
            #expect(keychain.token == "2")
            let error = await #expect(throws: RequestError.self) {
                try await URLSession.shared.response(for: request, config: account.config)
            }
            #expect(error?.code == .unauthorized)
            await account.signOut()
            #expect(keychain.token == nil)
        }
        #expect(
            asked == [
                "POST /v1/session Basic YWRhOmVuZ2luZQ==",
                "GET /v1/notes/7 Bearer 1", "GET /v1/notes/7 Bearer 1", "GET /v1/notes/7 Bearer 1",
                "POST /v1/session/refresh nobody",
                "GET /v1/notes/7 Bearer 2", "GET /v1/notes/7 Bearer 2", "GET /v1/notes/7 Bearer 2",
                "POST /v1/session/refresh nobody",
            ])
    }
}
