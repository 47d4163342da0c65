import Testing
import URLConfig

extension URLRequest.Config {
    static let production = Self(host: "https://notes.example.com/v1") { $0.headers[.appKey] = "5f2c" }

    static var development: Self {
        production.with {
            $0.host = NotesService.host
            $0.timeout = .seconds(300)
        }
    }
}

extension URLSession.Config {
    static let client = notes.with { $0.validators = [.orThrow(ServiceError.self)] }
}

struct NotesClient: Sendable {
    var environment = URLRequest.Config.production

    func signedIn(as name: String, password: String) async throws -> Self {
        let grant: Grant = try await response {
            $0.method = .post
            $0.path = "/session"
            $0.authorization = .basic(username: name, password: password)
        }.decode()
        return Self(environment: environment.with { $0.authorization = .bearer(grant.accessToken) })
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
            $0.body = .json(draft)
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
        try await URLSession.shared.response(for: .with(environment, configure), config: .client)
    }
}

@Suite(.inTime, .silentByDefault) struct EnvironmentsTests {
    @Test func `environments and a client`() async throws {
        try await NotesServer.serving {
            let client = try await NotesClient(environment: .development).signedIn(as: "ada", password: "engine")
            let notes = try await client.notes(matching: "red fox", tags: ["own", "new"], page: 2)
            let note = try await client.add(Draft(title: "Foxes", tags: ["own"]))
            try await client.write("Foxes & owls", in: note)
            let missing = try await client.note(404)

            let error = await #expect(throws: ServiceError.self) {
                _ = try await client.add(Draft(title: "", tags: []))
            }
            return (notes, note, missing, error)
        }
    }

    @Test func `the key is on the requests of both, and each has its own host and time limit`() {
        let production = URLRequest.with(.production) { $0.path = "/notes" }
        let development = NotesService.$host.withValue("http://localhost:8080") {
            URLRequest.with(.development) { $0.path = "/notes" }
        }
        #expect(production.urlText == "https://notes.example.com/v1/notes")
        #expect(development.urlText == "http://localhost:8080/notes")
        #expect(production.value(forHTTPHeaderField: "X-App-Key") == "5f2c")
        #expect(development.value(forHTTPHeaderField: "X-App-Key") == "5f2c")
        #expect(development.timeoutInterval == 300)
        #expect(production.timeoutInterval == 60)
    }
}
