import Testing
import URLConfig

extension TypedRequest where Output == Grant {
    static func signIn(as name: String, password: String) -> Self {
        .with(.notes, reader: .notes) {
            $0.method = .post
            $0.path = "/session"
            $0.authorization = .basic(username: name, password: password)
        }
    }
}

extension TypedRequest where Output == [Note] {
    static func notes(matching text: String, tags: [String], page: Int, token: String) -> Self {
        .with(.notes(token), reader: .notes) {
            $0.path = "/notes"
            $0.query = ["q": text, "tag": tags, "page": page]
        }
    }
}

extension TypedRequest where Output == Note? {
    static func note(_ id: Int, token: String) -> Self {
        .with(.notes(token), reader: .notes.or(nil, for: .notFound)) { $0.path = "/notes/\(id)" }
    }
}

extension TypedRequest where Output == Note {
    static func add(_ draft: Draft, token: String) -> Self {
        .with(.notes(token), reader: .notes) {
            $0.method = .post
            $0.path = "/notes"
            $0.body = .json(draft)
        }
    }
}

extension TypedRequest where Output == Void {
    static func write(_ text: String, in note: Note, token: String) -> Self {
        .with(.notes(token), reader: .discard.orThrow(ServiceError.self)) {
            $0.method = .put
            $0.path = "/notes/\(note.id)/text"
            $0.headers[.editor] = "pad"
            $0.body = .text(text)
        }
    }
}

extension ResponseReader where Output: Decodable {
    static var notes: Self { .json.orThrow(ServiceError.self) }
}

@Suite(.inTime) struct TypedRequestsTests {
    @Test func `typed requests as static members`() async throws {
        try await NotesServer.serving {
            let session = URLSession.shared
            let token = try await session.value(for: .signIn(as: "ada", password: "engine")).accessToken
            let search = TypedRequest.notes(matching: "red fox", tags: ["own", "new"], page: 2, token: token)
            let notes = try await session.value(for: search)
            let note = try await session.value(for: .add(Draft(title: "Foxes", tags: ["own"]), token: token))
            try await session.value(for: .write("Foxes & owls", in: note, token: token))
            let missing = try await session.value(for: .note(404, token: token))

            let error = await #expect(throws: ServiceError.self) {
                _ = try await session.value(for: .add(Draft(title: "", tags: []), token: token))
            }
            return (notes, note, missing, error)
        }
    }
}
