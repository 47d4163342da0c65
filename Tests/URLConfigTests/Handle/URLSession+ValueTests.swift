import FlyingFox
import InMemoryLogging
import Logging
import Testing
import URLConfig

@Suite(.silentByDefault) struct URLSessionValueTests {
    fileprivate struct User: Decodable, Equatable, Sendable { var id: Int }

    private struct Failure: Error {}

    private let server: Loopback

    init() async throws {
        server = try await Loopback { request in
            switch request.path {
            case "/users/1": .json(#"{"id":1}"#)
            case "/empty": .status(.noContent)
            default: .status(.notFound, "nothing here")
            }
        }
    }

    @Test func `a static member is found, and an annotated result is enough`() async throws {
        let found = try await server.session.value(for: .user(1, server.config))
        #expect(found == User(id: 1))
        let id = 1
        let user: User = try await server.session.value(for: .with(server.config) { $0.path = "/users/\(id)" })
        #expect(user == User(id: 1))
        let text: String = try await server.session.value(
            for: .with(server.config, reader: .text) { $0.path = "/users/1" })
        #expect(text == #"{"id":1}"#)
        let nobody: User? = try await server.session.value(
            for: .with(server.config, reader: .json.or(nil, for: .notFound)) { $0.path = "/users/2" })
        #expect(nobody == nil)
        let empty = URLRequest.with(server.config) { $0.path = "/empty" }
        try await server.session.value(for: TypedRequest(empty, reader: .none))
    }

    @Test func `the response is returned, too, if it is wanted`() async throws {
        let (user, response) = try await server.session.valueAndResponse(for: .user(1, server.config))
        #expect(user == User(id: 1))
        #expect(response.headerFields[.contentType] == "application/json")
        #expect(response.attempts.count == 1)
    }

    @Test func `a status that is not accepted is an error with the whole response`() async throws {
        let error = await expectError(.unacceptableStatus) {
            try await server.session.value(for: .user(2, server.config))
        }
        #expect(error?.response?.data == Data("nothing here".utf8))
        #expect(error?.attempts.count == 1)
    }

    @Test func `preset and closure configure the call, and the log names the caller`() async throws {
        let (logger, log) = Logger.recording()
        let preset = URLSession.Config().with { $0.logger = logger }
        let first: UInt = #line + 1
        _ = try await server.session.value(for: .user(1, server.config), config: preset)
        _ = try await server.session.valueAndResponse(for: .user(1, server.config), config: preset)
        for line in [first, first + 1] { #expect(log.text.contains("source=\(#fileID):\(line) "), "\(log.text)") }
        await #expect(throws: Failure.self) {
            try await server.session.value(for: .user(1, server.config)) {
                $0.validators = [ResponseValidator { _ in throw Failure() }]
            }
        }
    }

    @Test func `a validator is called before the reader, and no fallback after it`() async throws {
        let user = try await server.session.value(for: .user(2, server.config)) {
            $0.validators = [ResponseValidator { ($0.status, $0.data) = (.ok, Data(#"{"id":2}"#.utf8)) }]
        }
        #expect(user == User(id: 2))
        await #expect(throws: RequestError.self) {
            try await server.session.value(for: .user(2, server.config)) {
                $0.fallback = { error, _ in throw error is RequestError ? Failure() : error }
            }
        }
    }

    @Test func `a request that cannot be built says why`() async throws {
        await expectError(.invalidURL) {
            let request = TypedRequest<User>.with(.init(host: "https://h.example")) { $0.path = "/\("..")" }
            _ = try await URLSession.shared.value(for: request)
        }
    }

    @Test func `the response is not read on the caller's actor`() async throws {
        let request = TypedRequest.user(1, server.config).map { _ in Thread.isMainThread }
        let call = Task { @MainActor in try await server.session.value(for: request) }
        let isOnMainThread = try await call.valueInTime
        #expect(!isOnMainThread)
    }
}

extension TypedRequest where Output == URLSessionValueTests.User {
    fileprivate static func user(_ id: Int, _ config: URLRequest.Config) -> Self {
        .with(config) { $0.path = "/users/\(id)" }
    }
}
