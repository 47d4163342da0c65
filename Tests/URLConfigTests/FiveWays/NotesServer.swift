import Testing
import URLConfig
import URLConfigTesting

/// The service that all five ways call, and that expects the same requests from each.
enum NotesServer {
    /// The requests of each way, in this order.
    private static let conversation = [
        "POST /v1/session Basic YWRhOmVuZ2luZQ==",
        "GET /v1/notes?q=red%20fox&tag=own&tag=new&page=2 Bearer t0k",
        #"POST /v1/notes Bearer t0k application/json {"tags":["own"],"title":"Foxes"}"#,
        "PUT /v1/notes/7/text Bearer t0k text/plain; charset=utf-8 pad Foxes & owls",
        "GET /v1/notes/404 Bearer t0k",
        #"POST /v1/notes Bearer t0k application/json {"tags":[],"title":""}"#,
    ]

    /// What each way reads from the responses.
    typealias Findings = (notes: [Note], note: Note, missing: Note?, error: ServiceError?)

    /// Stands in for ``NotesService/host`` while `body` runs, and expects these requests and findings.
    static func serving(_ body: () async throws -> Findings) async throws {
        try await HTTPStubs.with { stubs in
            let untitled = #"{"code":"untitled","message":"A note needs a title."}"#
            let missing = #"{"code":"missing","message":"There is no such note."}"#
            for route in [
                stubs.post("/v1/session", .json(#"{"access_token":"t0k"}"#)),
                stubs.get("/v1/notes", .json(#"[{"id":1,"title":"Red foxes"}]"#)),
                stubs.post("/v1/notes", .json(untitled, status: 422)).json(#"{"title":""}"#),
                stubs.post("/v1/notes", .json(#"{"id":7,"title":"Foxes"}"#, status: .created)),
                stubs.put("/v1/notes/7/text", .status(.noContent)),
                stubs.get("/v1/notes/404", .json(missing, status: .notFound)),
            ] { route.field(.appKey, "5f2c") }
        } operation: {
            let findings = try await URLSession.Config.withHosts([NotesService.host: .notes]) { try await body() }
            #expect(findings.notes == [Note(id: 1, title: "Red foxes")])
            #expect(findings.note == Note(id: 7, title: "Foxes"))
            #expect(findings.missing == nil)
            #expect(findings.error == ServiceError(code: "untitled", message: "A note needs a title."))
            #expect(HTTPStubs.requests.map { summary($0) } == conversation)
        }
    }

    private static func summary(_ request: HTTPStubs.Request) -> String {
        let fields = [HTTPField.Name.authorization, .contentType, .editor].compactMap { request.headerFields[$0] }
        let target = request.url.path() + (request.url.query().map { "?" + $0 } ?? "")
        let parts = [request.method.rawValue, target] + fields + [String(decoding: request.body, as: UTF8.self)]
        return parts.filter { !$0.isEmpty }.joined(separator: " ")
    }
}
