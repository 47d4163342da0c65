import FlyingFox
import InMemoryLogging
import Logging
import Testing
import URLConfigTesting

@testable import URLConfig

@Suite(.inTime) struct URLSessionResponseTests {
    @Test func `three stages over a real socket`() async throws {
        struct Article: Decodable, Equatable {
            var id: Int
            var title: String
        }
        try await Loopback.serving { request in
            let body = try await request.bodyData
            #expect(request.method == .POST)
            #expect(request.path == "/users/7/article")
            #expect(body == Data(#"{"title":"some-title"}"#.utf8))
            return .json(#"{"id":1,"title":"some-title"}"#, status: .created)
        } _: { server in
            let userID = 7
            let request = URLRequest.with(server.config) {
                $0.method = .post
                $0.path = "/users/\(userID)/article"
                $0.body["title"] = "some-title"
            }
            let response = try await server.session.response(for: request) { $0.authorize = false }
            #expect(response.status == .created)
            #expect(response.headerFields[.contentType] == "application/json")
            #expect(response.duration > .zero)
            #expect(response.url == request.url)
            let article: Article = try response.decode()
            #expect(article == Article(id: 1, title: "some-title"))
        }
    }

    @Test(arguments: [200, 204, 301, 400, 401, 403, 404, 418, 500, 503, 599])
    func `a status is a response, not an error`(code: Int) async throws {
        try await Loopback.serving(.init(statusCode: .init(code, phrase: "Some"), body: Data("text".utf8))) { server in
            let response = try await server.get()
            #expect(response.status.code == code)
            #expect(response.status == HTTPResponse.Status(integerLiteral: code))
            #expect(response.isSuccess == (200..<300 ~= code))
        }
    }

    @Test func `a thousand calls at once each get their own response`() async throws {
        try await Loopback.serving { request in
            .json(#"{"path":"\#(request.path)"}"#)
        } _: { server in
            try await concurrently(1000) { id in
                let content: [String: String] = try await server.get("/items/\(id)").decode()
                #expect(content == ["path": "/items/\(id)"])
            }
        }
    }

    @Test func `steps come in the documented order`() async throws {
        let steps = Recorder<String>()
        let (logger, log) = Logger.recording()
        try await HTTPStubs.with {
            $0.get("/") { request in
                steps.note("served \(request.headerFields[.authorization] ?? "-")")
                return .status(request.headerFields[.authorization] == "second" ? .ok : .forbidden)
            }
        } operation: {
            let response = try await stubs.get {
                $0.logger = logger
                $0.authenticator = TestAuthenticator { request in
                    let credentials = steps.note("authorize") == 1 ? "first" : "second"
                    request.setValue(credentials, forHTTPHeaderField: "Authorization")
                } reauthorize: { response in
                    steps.note("reauthorize \(response.status.code)")
                    return true
                }
                $0.isUnauthorized = { $0.status == .forbidden }
                $0.validators = [
                    ResponseValidator { _ in steps.note("first validator") },
                    ResponseValidator { _ in steps.note("second validator") },
                ]
            }
            #expect(response.isSuccess)
            #expect(response.request.field("Authorization") == "second")
        }
        #expect(
            steps.entries == [
                "authorize", "served first", "reauthorize 403", "authorize", "served second",
                "first validator", "second validator",
            ])
        #expect(log.entries.map { $0.message.description.prefix(1) } == ["🛫", "🔁", "🛫", "🛬"])
    }

    @Test(.silentByDefault, .stubs { $0.any("/", .status(.unauthorized)) })
    func `the caller's closure may use the caller's actor`() async throws {
        @MainActor final class Model {
            var authorize = false
            func load() async throws -> [Status] {
                let (session, request) = (stubs.session, stubs.request())
                let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
                var statuses = [
                    try await session.response(for: request) { $0.authorize = authorize }.status,
                    try await session.stream(for: request) { $0.authorize = authorize }.head.status,
                    try await session.upload(.data(Data()), for: stubs.request { $0.method = .put }) {
                        $0.authorize = authorize
                    }.status,
                ]
                do {
                    try await session.download(for: request, to: file) {
                        ($0.authorize, $0.logger) = (authorize, nil)
                    }
                } catch let error as RequestError {
                    if let status = error.response?.status { statuses.append(status) }
                }
                return statuses
            }
        }
        #expect(try await Model().load() == [401, 401, 401, 401])
    }

    @Test(.urlSessionOnly) func `a task delegate of the caller's receives no data`() async throws {
        final class Delegate: NSObject, URLSessionDataDelegate, Sendable {
            let calls = Recorder<String>()
            func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
                calls.note("data")
            }
            func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
                calls.note("completion")
            }
        }
        let delegate = Delegate()
        try await Loopback.serving(.json("{}")) { _ = try await $0.get { $0.taskDelegate = delegate }.validated() }
        #expect(delegate.calls.entries == [])
    }
}
