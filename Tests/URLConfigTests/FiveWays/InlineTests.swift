import Testing
import URLConfig

struct NoteRepository: Sendable {
    let token: String

    static func signIn(as name: String, password: String) async throws -> Self {
        let request = URLRequest.with(.notes) {
            $0.method = .post
            $0.path = "/session"
            $0.authorization = .basic(username: name, password: password)
        }
        let grant: Grant = try await URLSession.shared.response(for: request).decode(orThrow: ServiceError.self)
        return Self(token: grant.accessToken)
    }

    func notes(matching text: String, tags: [String], page: Int) async throws -> [Note] {
        let request = URLRequest.with(.notes(token)) {
            $0.path = "/notes"
            $0.query = ["q": text, "tag": tags, "page": page]
        }
        let response = try await URLSession.shared.response(for: request) { $0.retry = .standard }
        return try response.decode(orThrow: ServiceError.self)
    }

    func note(_ id: Int) async throws -> Note? {
        let request = URLRequest.with(.notes(token)) { $0.path = "/notes/\(id)" }
        let response = try await URLSession.shared.response(for: request)
        if response.status == .notFound { return nil }
        return try response.decode(orThrow: ServiceError.self)
    }

    func add(_ draft: Draft) async throws -> Note {
        let request = URLRequest.with(.notes(token)) {
            $0.method = .post
            $0.path = "/notes"
            $0.body = .json(draft)
        }
        return try await URLSession.shared.response(for: request).decode(orThrow: ServiceError.self)
    }

    func write(_ text: String, in note: Note) async throws {
        let request = URLRequest.with(.notes(token)) {
            $0.method = .put
            $0.path = "/notes/\(note.id)/text"
            $0.headers[.editor] = "pad"
            $0.body = .text(text)
        }
        try await URLSession.shared.response(for: request).validated(orThrow: ServiceError.self)
    }
}

@Suite(.inTime) struct InlineTests {
    @Test func `inline in a repository`() async throws {
        try await NotesServer.serving {
            let repository = try await NoteRepository.signIn(as: "ada", password: "engine")
            let notes = try await repository.notes(matching: "red fox", tags: ["own", "new"], page: 2)
            let note = try await repository.add(Draft(title: "Foxes", tags: ["own"]))
            try await repository.write("Foxes & owls", in: note)
            let missing = try await repository.note(404)

            let error = await #expect(throws: ServiceError.self) {
                _ = try await repository.add(Draft(title: "", tags: []))
            }
            return (notes, note, missing, error)
        }
    }
}
