import Testing
import URLConfig

enum Backend: Sendable {
    case development, production

    var api: URLRequest.Config {
        switch self {
        case .development: .development
        case .production: .production
        }
    }
}

extension URLRequest.Config {
    /// What every request of the app has, wherever it goes.
    static let base = Self().with { $0.headers[.appKey] = "5f2c" }

    static let production = base.with { $0.host = "https://notes.example.com/v1" }

    static var development: Self {
        base.with {
            $0.host = NotesService.host
            $0.timeout = .seconds(300)
        }
    }
}

extension URLSession.Config {
    static let backend = Self().with { $0.validators = [.orThrow(ServiceError.self)] }
}

struct NotesClient: Sendable {
    var backend = Backend.production
    var authorization: Authorization?

    func signedIn(as name: String, password: String) async throws -> Self {
        let grant: Grant = try await response {
            $0.method = .post
            $0.path = "/session"
            $0.authorization = .basic(username: name, password: password)
        }.decode()
        return Self(backend: backend, authorization: .bearer(grant.token))
    }

    func notes(matching text: String, tags: [String], page: Int) async throws -> [Note] {
        try await response {
            $0.path = "/notes"
            $0.query = ["q": text, "tag": tags, "page": page]
        }.decode()
    }

    func note(_ id: Int) async throws -> Note? {
        do {
            return try await response { $0.path = "/notes/\(id)" }.decode()
        } catch let error as ServiceError where error.code == "missing" {
            return nil
        }
    }

    func add(_ draft: Draft) async throws -> Note {
        try await response {
            $0.method = .post
            $0.path = "/notes"
            $0.bodyModel = draft
        }.decode()
    }

    func write(_ text: String, in note: Note) async throws {
        try await response {
            $0.method = .put
            $0.path = "/notes/\(note.id)/text"
            $0.headers[.editor] = "pad"
            $0.body = .text(text)
        }
    }

    @discardableResult
    private func response(_ configure: (inout URLRequest.Config) -> Void) async throws -> DataResponse {
        let request = URLRequest.with(backend.api) {
            $0.authorization = authorization
            configure(&$0)
        }
        return try await URLSession.shared.response(for: request, config: .backend)
    }
}

@Suite(.silentByDefault) struct EnvironmentsTests {
    @Test func `an enum of environments`() async throws {
        try await NotesServer.serving {
            let client = try await NotesClient(backend: .development).signedIn(as: "ada", password: "engine")
            let notes = try await client.notes(matching: "red fox", tags: ["own", "new"], page: 2)
            let note = try await client.add(Draft(title: "Foxes", tags: ["own"]))
            try await client.write("Foxes & owls", in: note)
            let missing = try await client.note(404)
            var notice = ""
            do {
                _ = try await client.add(Draft(title: "", tags: []))
            } catch let error as ServiceError {
                notice = error.message
            }

            return (notes, note, missing, notice)
        }
    }

    @Test func `the key is on the requests of both, and each has its own host and time limit`() {
        let production = URLRequest.with(Backend.production.api) { $0.path = "/notes" }
        let development = URLRequest.with(Backend.development.api) { $0.path = "/notes" }
        #expect(production.urlText == "https://notes.example.com/v1/notes")
        #expect(production.value(forHTTPHeaderField: "X-App-Key") == "5f2c")
        #expect(development.value(forHTTPHeaderField: "X-App-Key") == "5f2c")
        #expect(development.timeoutInterval == 300)
        #expect(production.timeoutInterval == 60)
    }
}
