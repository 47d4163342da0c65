import Testing
import URLConfig

extension URLRequest {
    static func signIn(as name: String, password: String) -> Self {
        .with(.notes) {
            $0.method = .post
            $0.path = "/session"
            $0.authorization = .basic(username: name, password: password)
        }
    }

    static func notes(matching text: String, tags: [String], page: Int, token: String) -> Self {
        .with(.notes(token)) {
            $0.path = "/notes"
            $0.query = ["q": text, "tag": tags, "page": page]
        }
    }

    static func note(_ id: Int, token: String) -> Self {
        .with(.notes(token)) { $0.path = "/notes/\(id)" }
    }

    static func add(_ draft: Draft, token: String) -> Self {
        .with(.notes(token)) {
            $0.method = .post
            $0.path = "/notes"
            $0.body = .json(draft)
        }
    }

    static func write(_ text: String, in note: Note, token: String) -> Self {
        .with(.notes(token)) {
            $0.method = .put
            $0.path = "/notes/\(note.id)/text"
            $0.headers[.editor] = "pad"
            $0.body = .text(text)
        }
    }
}

@Suite(.inTime) struct RequestFunctionsTests {
    @Test func `static functions that return requests`() async throws {
        try await NotesServer.serving {
            let session = URLSession.shared
            let grant: Grant = try await session.response(for: .signIn(as: "ada", password: "engine")).decode()
            let token = grant.accessToken

            let search = URLRequest.notes(matching: "red fox", tags: ["own", "new"], page: 2, token: token)
            let notes: [Note] = try await session.response(for: search).validated().decode()

            let draft = Draft(title: "Foxes", tags: ["own"])
            let note: Note = try await session.response(for: .add(draft, token: token)).validated().decode()
            try await session.response(for: .write("Foxes & owls", in: note, token: token)).validated()
            let isMissing = try await session.response(for: .note(404, token: token)).status == .notFound

            let error = await #expect(throws: ServiceError.self) {
                let untitled = Draft(title: "", tags: [])
                try await session.response(for: .add(untitled, token: token)).validated(orThrow: ServiceError.self)
            }
            return (notes, note, isMissing ? nil : note, error)
        }
    }
}
