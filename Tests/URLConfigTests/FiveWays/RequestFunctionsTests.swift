import Testing
import URLConfig

// URLRequest+Session.swift
extension URLRequest {
    static func signIn(as name: String, password: String) -> Self {
        .with(.notes) {
            $0.method = .post
            $0.path = "/session"
            $0.authorization = .basic(username: name, password: password)
        }
    }
}

// URLRequest+Notes.swift
extension URLRequest {
    static func notes(matching text: String, tags: [String], page: Int, token: String) -> Self {
        .with(.notes) {
            $0.path = "/notes"
            $0.query["q"] = text
            $0.query["tag"] = tags
            $0.query["page"] = page
            $0.authorization = .bearer(token)
        }
    }

    static func note(_ id: Int, token: String) -> Self {
        .with(.notes) {
            $0.path = "/notes/\(id)"
            $0.authorization = .bearer(token)
        }
    }

    static func add(_ draft: Draft, token: String) -> Self {
        .with(.notes) {
            $0.method = .post
            $0.path = "/notes"
            $0.authorization = .bearer(token)
            $0.bodyModel = draft
        }
    }

    static func write(_ text: String, in note: Note, token: String) -> Self {
        .with(.notes) {
            $0.method = .put
            $0.path = "/notes/\(note.id)/text"
            $0.headers[.editor] = "pad"
            $0.authorization = .bearer(token)
            $0.body = .text(text)
        }
    }
}

@Suite struct RequestFunctionsTests {
    @Test func `static functions that return requests`() async throws {
        try await NotesServer.serving {
            let session = URLSession.shared
            let grant: Grant = try await session.response(for: .signIn(as: "ada", password: "engine")).decode()

            let request = URLRequest.notes(
                matching: "red fox", tags: ["own", "new"], page: 2, token: grant.token)
            let notes: [Note] = try await session.response(for: request).validated().decode()

            let draft = Draft(title: "Foxes", tags: ["own"])
            let response = try await session.response(for: .add(draft, token: grant.token)).validated()
            let note: Note = try response.decode()
            try await session.response(for: .write("Foxes & owls", in: note, token: grant.token)).validated()

            let isMissing = try await session.response(for: .note(404, token: grant.token)).status == .notFound
            var notice = ""
            do {
                let untitled = Draft(title: "", tags: [])
                try await session.response(for: .add(untitled, token: grant.token)).validated()
            } catch let error as RequestError where error.code == .unacceptableStatus {
                notice = try error.response?.decode(ServiceError.self).message ?? ""
            }

            return (notes, note, isMissing ? nil : note, notice)
        }
    }
}
