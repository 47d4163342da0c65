import Testing
import URLConfig

protocol NotesRequest: Sendable {
    associatedtype Value: Sendable
    /// Reads the response.
    var reader: ResponseReader<Value> { get }
    /// Changes the preset to this request.
    func configure(_ config: inout URLRequest.Config)
}

struct NotesConnection: Sendable {
    var preset = URLRequest.Config.notes

    func value<Request: NotesRequest>(for request: Request) async throws -> Request.Value {
        let reader = request.reader.orThrow(ServiceError.self)
        let typed = TypedRequest(.with(preset, request.configure), reader: reader)
        return try await URLSession.shared.value(for: typed)
    }
}

struct SignIn: NotesRequest {
    var name: String
    var password: String
    var reader: ResponseReader<Grant> { .json }

    func configure(_ config: inout URLRequest.Config) {
        config.method = .post
        config.path = "/session"
        config.authorization = .basic(username: name, password: password)
    }
}

struct FindNotes: NotesRequest {
    var text: String
    var tags: [String] = []
    var page = 1
    var reader: ResponseReader<[Note]> { .json }

    func configure(_ config: inout URLRequest.Config) {
        config.path = "/notes"
        config.query = ["q": text, "tag": tags, "page": page]
    }
}

struct GetNote: NotesRequest {
    var id: Int
    var reader: ResponseReader<Note?> { .json.or(nil, for: .notFound) }

    func configure(_ config: inout URLRequest.Config) { config.path = "/notes/\(id)" }
}

struct AddNote: NotesRequest, Codable {
    var draft: Draft
    var reader: ResponseReader<Note> { .json }

    func configure(_ config: inout URLRequest.Config) {
        config.method = .post
        config.path = "/notes"
        config.body = .json(draft)
    }
}

struct WriteText: NotesRequest {
    var text: String
    var note: Note
    var reader: ResponseReader<Void> { .discard }

    func configure(_ config: inout URLRequest.Config) {
        config.method = .put
        config.path = "/notes/\(note.id)/text"
        config.headers[.editor] = "pad"
        config.body = .text(text)
    }
}

@Suite(.inTime) struct RequestTypesTests {
    @Test func `a type for each request`() async throws {
        try await NotesServer.serving {
            let grant = try await NotesConnection().value(for: SignIn(name: "ada", password: "engine"))
            let connection = NotesConnection(preset: .notes(grant.accessToken))
            let notes = try await connection.value(for: FindNotes(text: "red fox", tags: ["own", "new"], page: 2))
            let stored = try JSONEncoder().encode(AddNote(draft: Draft(title: "Foxes", tags: ["own"])))
            let note = try await connection.value(for: JSONDecoder().decode(AddNote.self, from: stored))
            try await connection.value(for: WriteText(text: "Foxes & owls", note: note))
            let missing = try await connection.value(for: GetNote(id: 404))

            let error = await #expect(throws: ServiceError.self) {
                _ = try await connection.value(for: AddNote(draft: Draft(title: "", tags: [])))
            }
            return (notes, note, missing, error)
        }
    }
}
