import FlyingFox
import InMemoryLogging
import Logging
import Testing

@testable import URLConfig

@Suite struct URLSessionResponseTests {
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
            let response = try await server.session.response(for: request) {
                $0.authorize = false
            }
            #expect(response.status == .created)
            #expect(response.headerFields[.contentType] == "application/json")
            #expect(response.duration > .zero)
            #expect(response.url == request.url)
            let article: Article = try response.decode()
            #expect(article == Article(id: 1, title: "some-title"))
        }
    }

    @Test(arguments: [200, 204, 301, 400, 401, 403, 404, 418, 500, 503, 599])
    func `a status is an answer, not an error`(code: Int) async throws {
        try await Loopback.serving { _ in
            .init(statusCode: .init(code, phrase: "Some"), body: Data("text".utf8))
        } _: { server in
            let response = try await server.get()
            #expect(response.status.code == code)
            #expect(response.status == HTTPResponse.Status(integerLiteral: code))
            #expect(response.isSuccess == (200..<300 ~= code))
        }
    }

    @Test func `a large body arrives whole`() async throws {
        let body = Data.sample(5_000_000)
        try await Loopback.serving { request in
            .init(statusCode: .ok, body: try await request.bodyData)
        } _: { server in
            let request = server.request {
                $0.method = .put
                $0.body = .data(body)
            }
            let response = try await server.response(for: request)
            #expect(response.status == .ok)
            #expect(response.data.count == body.count)
            // A failed comparison of two large values would be explained for minutes.
            let isSame = response.data == body
            #expect(isSame)
        }
    }

    @Test func `steps come in the documented order`() async throws {
        let journal = Journal()
        let (logger, log) = Logger.recording()
        try await Loopback.serving { request in
            await journal.note("served \(request.headers[.authorization] ?? "-")")
            return request.headers[.authorization] == "second" ? .json("{}") : .status(.forbidden)
        } _: { server in
            let response = try await server.get {
                $0.logger = logger
                $0.authenticator = Steps(journal: journal, credentials: ["first", "second"])
                $0.isUnauthorized = { $0.status == .forbidden }
                $0.validators = [
                    ResponseValidator { _ in await journal.note("first validator") },
                    ResponseValidator { _ in await journal.note("second validator") },
                ]
            }
            #expect(response.isSuccess)
            let entries = await journal.entries
            #expect(
                entries == [
                    "authorize", "served first", "reauthorize 403", "authorize", "served second",
                    "first validator", "second validator",
                ])
            #expect(log.entries.map { $0.message.description.prefix(1) } == ["🛫", "🔁", "🛫", "🛬"])
        }
    }

    @Test func `a transport failure stays a URLError`() async throws {
        let request = URLRequest.with(.init(host: "http://127.0.0.1:1"))
        let session = URLSession(configuration: .ofTests)
        defer { session.finishTasksAndInvalidate() }
        let error = await #expect(throws: URLError.self) {
            try await session.response(for: request, config: .silent)
        }
        #expect(error?.code == .cannotConnectToHost)
    }

    @Test(arguments: [Duration.milliseconds(300), .seconds(1)])
    func `a time limit ends an attempt`(limit: Duration) async throws {
        try await Loopback.serving { _ in
            try await Task.sleep(for: .seconds(500))
            return .json("{}")
        } _: { server in
            let request = server.request { $0.timeout = limit }
            let start = ContinuousClock.now
            let error = await #expect(throws: URLError.self) {
                try await server.response(for: request)
            }
            #expect(error?.code == .timedOut)
            #expect(start.duration(to: .now) < .seconds(300))
        }
    }

    @Test(arguments: [TimeInterval.infinity, .greatestFiniteMagnitude])
    func `a time limit beyond all bounds neither traps nor fires`(limit: TimeInterval) async throws {
        try await Loopback.serving { _ in
            .json("{}")
        } _: { server in
            let request = server.request { $0.timeoutInterval = limit }
            let response = try await server.response(for: request)
            #expect(response.isSuccess)
        }
    }

    @Test func `a transport failure shows no secret of the URL`() async throws {
        let request = URLRequest.with(.init(host: "http://127.0.0.1:1")) { $0.query["token"] = "t0psecret" }
        let session = URLSession(configuration: .ofTests)
        defer { session.finishTasksAndInvalidate() }
        let error = await #expect(throws: URLError.self) {
            try await session.response(for: request, config: .silent)
        }
        #expect(error?.code == .cannotConnectToHost)
        #expect(error?.failingURL?.absoluteString == "http://127.0.0.1:1?token=***")
        #expect(!String(reflecting: error).contains("t0psecret"))
    }

    @Test func `the caller's closure may touch the caller's actor`() async throws {
        @MainActor final class Model {
            var authorize = false
            func load(_ server: Loopback) async throws -> DataResponse {
                try await server.session.response(for: server.request()) {
                    $0.authorize = authorize
                }
            }
        }
        try await Loopback.serving { _ in
            .status(.unauthorized)
        } _: { server in
            let response = try await Model().load(server)
            #expect(response.status == .unauthorized)
        }
    }

    @Test(.urlSessionOnly) func `a task delegate of the caller's receives no data`() async throws {
        final class Delegate: NSObject, URLSessionDataDelegate, Sendable {
            let calls = Locked<[String]>([])
            func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
                calls.withLock { $0.append("data") }
            }
            func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
                calls.withLock { $0.append("completion") }
            }
        }
        let delegate = Delegate()
        try await Loopback.serving { _ in
            .json("{}")
        } _: { server in
            let response = try await server.get { $0.taskDelegate = delegate }
            #expect(response.isSuccess)
        }
        #expect(delegate.calls.withLock { $0 } == [])
    }
}

private actor Steps: Authenticator {
    let journal: Journal
    var credentials: [String]

    init(journal: Journal, credentials: [String]) {
        self.journal = journal
        self.credentials = credentials
    }

    func authorize(_ request: inout URLRequest) async throws {
        await journal.note("authorize")
        request.setValue(credentials.first, forHTTPHeaderField: "Authorization")
    }

    func reauthorize(after response: DataResponse) async throws -> Bool {
        await journal.note("reauthorize \(response.status.code)")
        credentials.removeFirst()
        return !credentials.isEmpty
    }
}
