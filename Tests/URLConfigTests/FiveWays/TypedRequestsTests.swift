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
        .with(.notes, reader: .notes) {
            $0.path = "/notes"
            $0.query["q"] = text
            $0.query["tag"] = tags
            $0.query["page"] = page
            $0.authorization = .bearer(token)
        }
    }
}

extension TypedRequest where Output == Note? {
    static func note(_ id: Int, token: String) -> Self {
        .with(.notes, reader: .notes.or(nil, for: .notFound)) {
            $0.path = "/notes/\(id)"
            $0.authorization = .bearer(token)
        }
    }
}

extension TypedRequest where Output == Note {
    static func add(_ draft: Draft, token: String) -> Self {
        .with(.notes, reader: .notes) {
            $0.method = .post
            $0.path = "/notes"
            $0.authorization = .bearer(token)
            $0.bodyModel = draft
        }
    }
}

extension TypedRequest where Output == Void {
    static func write(_ text: String, in note: Note, token: String) -> Self {
        let request = URLRequest.with(.notes) {
            $0.method = .put
            $0.path = "/notes/\(note.id)/text"
            $0.headers[.editor] = "pad"
            $0.authorization = .bearer(token)
            $0.body = .text(text)
        }
        return .init(request, reader: .none.orThrow(ServiceError.self))
    }
}

extension ResponseReader where Output: Decodable {
    static var notes: Self { .json.orThrow(ServiceError.self) }
}

@Suite struct TypedRequestsTests {
    @Test func `typed requests as static members`() async throws {
        try await NotesServer.serving {
            let session = URLSession.shared
            let token = try await session.value(for: .signIn(as: "ada", password: "engine")).token
            let notes = try await session.value(
                for: .notes(matching: "red fox", tags: ["own", "new"], page: 2, token: token))
            let note = try await session.value(for: .add(Draft(title: "Foxes", tags: ["own"]), token: token))
            try await session.value(for: .write("Foxes & owls", in: note, token: token))
            let missing = try await session.value(for: .note(404, token: token))
            var notice = ""
            do {
                _ = try await session.value(for: .add(Draft(title: "", tags: []), token: token))
            } catch let error as ServiceError {
                notice = error.message
            }

            return (notes, note, missing, notice)
        }
    }
}
