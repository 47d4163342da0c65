import Testing
import URLConfig

struct NoteRepository: Sendable {
    let token: String

    static func signIn(as name: String, password: String) async throws -> NoteRepository {
        let request = URLRequest.with(.notes) {
            $0.method = .post
            $0.path = "/session"
            $0.authorization = .basic(username: name, password: password)
        }
        let response = try await URLSession.shared.response(for: request) { $0.authorize = false }
        let grant = try response.decode(Grant.self, orThrow: ServiceError.self)
        return NoteRepository(token: grant.token)
    }

    func notes(matching text: String, tags: [String], page: Int) async throws -> [Note] {
        let request = URLRequest.with(.notes) {
            $0.path = "/notes"
            $0.query["q"] = text
            $0.query["tag"] = tags
            $0.query["page"] = page
            $0.authorization = .bearer(token)
        }
        let response = try await URLSession.shared.response(for: request) { $0.retry = .standard }
        return try response.decode(orThrow: ServiceError.self)
    }

    func note(_ id: Int) async throws -> Note? {
        let request = URLRequest.with(.notes) {
            $0.path = "/notes/\(id)"
            $0.authorization = .bearer(token)
        }
        let response = try await URLSession.shared.response(for: request)
        if response.status == .notFound { return nil }
        return try response.decode(orThrow: ServiceError.self)
    }

    func add(_ draft: Draft) async throws -> Note {
        let request = URLRequest.with(.notes) {
            $0.method = .post
            $0.path = "/notes"
            $0.authorization = .bearer(token)
            $0.bodyModel = draft
        }
        let response = try await URLSession.shared.response(for: request)
        return try response.decode(orThrow: ServiceError.self)
    }

    func write(_ text: String, in note: Note) async throws {
        let request = URLRequest.with(.notes) {
            $0.method = .put
            $0.path = "/notes/\(note.id)/text"
            $0.headers[.editor] = "pad"
            $0.authorization = .bearer(token)
            $0.body = .text(text)
        }
        let response = try await URLSession.shared.response(for: request)
        try response.validated(orThrow: ServiceError.self)
    }
}

@Suite struct InlineTests {
    @Test func `inline in a repository`() async throws {
        try await NotesServer.serving {
            let repository = try await NoteRepository.signIn(as: "ada", password: "engine")
            let notes = try await repository.notes(matching: "red fox", tags: ["own", "new"], page: 2)
            let note = try await repository.add(Draft(title: "Foxes", tags: ["own"]))
            try await repository.write("Foxes & owls", in: note)
            let missing = try await repository.note(404)
            var notice = ""
            do {
                _ = try await repository.add(Draft(title: "", tags: []))
            } catch let error as ServiceError {
                notice = error.message
            }

            return (notes, note, missing, notice)
        }
    }
}
