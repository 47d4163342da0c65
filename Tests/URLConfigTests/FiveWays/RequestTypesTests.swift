import Testing
import URLConfig

protocol NotesRequest: Sendable {
    associatedtype Answer: Sendable
    /// How the response is read.
    static var reader: ResponseReader<Answer> { get }
    /// What sets this request apart from others.
    func configure(_ config: inout URLRequest.Config)
}

extension NotesRequest where Answer: Decodable {
    static var reader: ResponseReader<Answer> { .json }
}

extension NotesRequest where Answer == Void {
    static var reader: ResponseReader<Void> { .none }
}

struct NotesConnection: Sendable {
    var authorization: Authorization?

    func answer<Request: NotesRequest>(to request: Request) async throws -> Request.Answer {
        let reader = Request.reader.orThrow(ServiceError.self)
        let urlRequest = URLRequest.with(.notes) {
            $0.authorization = authorization
            request.configure(&$0)
        }
        return try await URLSession.shared.value(for: TypedRequest(urlRequest, reader: reader))
    }
}

struct SignIn: NotesRequest {
    typealias Answer = Grant
    var name: String
    var password: String

    func configure(_ config: inout URLRequest.Config) {
        config.method = .post
        config.path = "/session"
        config.authorization = .basic(username: name, password: password)
    }
}

struct FindNotes: NotesRequest {
    typealias Answer = [Note]
    var text: String
    var tags: [String] = []
    var page = 1

    func configure(_ config: inout URLRequest.Config) {
        config.path = "/notes"
        config.query = ["q": text, "tag": tags, "page": page]
    }
}

struct GetNote: NotesRequest {
    static let reader = ResponseReader<Note?>.json.or(nil, for: .notFound)
    var id: Int

    func configure(_ config: inout URLRequest.Config) {
        config.path = "/notes/\(id)"
    }
}

struct AddNote: NotesRequest, Codable {
    typealias Answer = Note
    var draft: Draft

    func configure(_ config: inout URLRequest.Config) {
        config.method = .post
        config.path = "/notes"
        config.bodyModel = draft
    }
}

struct WriteText: NotesRequest {
    typealias Answer = Void
    var text: String
    var note: Note

    func configure(_ config: inout URLRequest.Config) {
        config.method = .put
        config.path = "/notes/\(note.id)/text"
        config.headers[.editor] = "pad"
        config.body = .text(text)
    }
}

@Suite struct RequestTypesTests {
    @Test func `a type for each request`() async throws {
        try await NotesServer.serving {
            var connection = NotesConnection()
            let grant = try await connection.answer(to: SignIn(name: "ada", password: "engine"))
            connection.authorization = .bearer(grant.token)
            let notes = try await connection.answer(to: FindNotes(text: "red fox", tags: ["own", "new"], page: 2))
            let stored = try JSONEncoder().encode(AddNote(draft: Draft(title: "Foxes", tags: ["own"])))
            let note = try await connection.answer(to: JSONDecoder().decode(AddNote.self, from: stored))
            try await connection.answer(to: WriteText(text: "Foxes & owls", note: note))
            let missing = try await connection.answer(to: GetNote(id: 404))
            var notice = ""
            do {
                _ = try await connection.answer(to: AddNote(draft: Draft(title: "", tags: [])))
            } catch let error as ServiceError {
                notice = error.message
            }

            return (notes, note, missing, notice)
        }
    }
}
