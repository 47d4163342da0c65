import FlyingFox
import Testing

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
        keychain.token = token
        await authenticator.setToken(token.map { .init($0) })
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
    /// Serves tokens that are valid for two requests each; the second one cannot be refreshed.
    private func serving(_ body: () async throws -> Void) async throws -> [String] {
        let (asked, uses) = (Recorder<String>(), Recorder<String>())
        try await Loopback.serving { request in
            let credentials = request.headers[.authorization] ?? "nobody"
            asked.note("\(request.method.rawValue) \(request.path) \(credentials)")
            switch request.path {
            case "/v1/session": return .json(#"{"access_token":"1"}"#)
            case "/v1/session/refresh":
                let refused = String(decoding: try await request.bodyData, as: UTF8.self)
                return refused == #"{"token":"1"}"# ? .json(#"{"access_token":"2"}"#) : .status(.forbidden)
            default:
                let count = uses.note(request.path)
                let isGood = credentials == (count <= 2 ? "Bearer 1" : "Bearer 2") && count <= 5
                return isGood ? .json(#"{"id":7,"title":"Foxes"}"#) : .status(.unauthorized)
            }
        } _: { server in
            try await NotesService.$host.withValue(server.host + "/v1") {
                try await URLSession.Config.withHosts([NotesService.host: .notes]) { try await body() }
            }
        }
        return asked.entries
    }

    @Test func `tokens that expire`() async throws {
        let keychain = Keychain()
        let asked = try await serving {
            let account = NotesAccount(keychain)
            let signedIn = URLSession.Config.notes.with { $0.authenticator = account.authenticator }
            try await account.signIn(as: "ada", password: "engine")
            let request = URLRequest.with(.notes) { $0.path = "/notes/7" }
            let note: Note = try await URLSession.shared.response(for: request, config: signedIn).decode()
            #expect(note == Note(id: 7, title: "Foxes"))

            for _ in 0..<3 { try await URLSession.shared.response(for: request, config: signedIn).validated() }
            #expect(keychain.token == "2")
            let error = await #expect(throws: RequestError.self) {
                try await URLSession.shared.response(for: request, config: signedIn)
            }
            #expect(error?.code == .unauthorized)
            await account.setToken(nil)
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
