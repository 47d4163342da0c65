import FlyingFox
import Testing
import URLConfig

/// The service that all five ways call, and that expects the same requests from each.
enum NotesServer {
    /// The requests of each way, in this order, and the status of each response.
    private static let conversation = [
        "POST /v1/session Basic YWRhOmVuZ2luZQ== -> 200",
        "GET /v1/notes?q=red%20fox&tag=own&tag=new&page=2 Bearer t0k -> 200",
        #"POST /v1/notes Bearer t0k application/json {"tags":["own"],"title":"Foxes"} -> 201"#,
        "PUT /v1/notes/7/text Bearer t0k text/plain; charset=utf-8 pad Foxes & owls -> 204",
        "GET /v1/notes/404 Bearer t0k -> 404",
        #"POST /v1/notes Bearer t0k application/json {"tags":[],"title":""} -> 422"#,
    ]

    /// What each way reads from the responses.
    typealias Findings = (notes: [Note], note: Note, missing: Note?, error: ServiceError?)

    /// Serves at ``NotesService/host`` while `body` runs, and expects these requests and findings.
    static func serving(_ body: () async throws -> Findings) async throws {
        let requests = Recorder<String>()
        try await Loopback.serving { request in
            let content = String(decoding: try await request.bodyData, as: UTF8.self)
            let response = response(to: request, content)
            let asked = [
                request.method.rawValue, request.target.rawValue, request.headers[.authorization],
                request.headers[.contentType], request.headers[HTTPHeader("X-Editor")], content,
            ].compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: " ")
            requests.note("\(asked) -> \(response.statusCode.code)")
            return response
        } _: { server in
            let findings = try await NotesService.$host.withValue(server.host + "/v1") {
                try await URLSession.Config.withHosts([NotesService.host: .notes]) { try await body() }
            }
            #expect(findings.notes == [Note(id: 1, title: "Red foxes")])
            #expect(findings.note == Note(id: 7, title: "Foxes"))
            #expect(findings.missing == nil)
            #expect(findings.error == ServiceError(code: "untitled", message: "A note needs a title."))
        }
        #expect(requests.entries == conversation)
    }

    private static func response(to request: Loopback.Request, _ content: String) -> Loopback.Response {
        guard request.headers[HTTPHeader("X-App-Key")] == "5f2c" else {
            return .json(#"{"code":"key","message":"The app key is wrong."}"#, status: .forbidden)
        }
        let endpoint = "\(request.method.rawValue) \(request.path)"
        let credentials = endpoint == "POST /v1/session" ? "Basic YWRhOmVuZ2luZQ==" : "Bearer t0k"
        guard request.headers[.authorization] == credentials else {
            return .json(#"{"code":"credentials","message":"Sign in first."}"#, status: .unauthorized)
        }
        switch endpoint {
        case "POST /v1/session":
            return .json(#"{"access_token":"t0k"}"#)
        case "GET /v1/notes":
            return .json(#"[{"id":1,"title":"Red foxes"}]"#)
        case "POST /v1/notes" where content.contains(#""title":"""#):
            let status = HTTPStatusCode(422, phrase: "Unprocessable Content")
            return .json(#"{"code":"untitled","message":"A note needs a title."}"#, status: status)
        case "POST /v1/notes":
            return .json(#"{"id":7,"title":"Foxes"}"#, status: .created)
        case "PUT /v1/notes/7/text":
            return .init(statusCode: .noContent)
        default:
            return .json(#"{"code":"missing","message":"There is no such note."}"#, status: .notFound)
        }
    }
}
