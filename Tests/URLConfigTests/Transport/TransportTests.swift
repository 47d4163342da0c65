import FlyingFox
import InMemoryLogging
import Logging
import Testing

@testable import URLConfig

/// Every policy of a call, on three transports to the same service: a closure, pieces with delays, and a socket.
@Suite(.inTime) struct TransportTests {
    enum Kind: CaseIterable {
        case closure, pieces, socket
    }

    private typealias Handler = @Sendable (URLRequest) async throws -> Transport.Response

    /// Calls a service with a transport.
    private struct Client: Sendable {
        let api: URLRequest.Config
        let session: URLSession
        let preset: URLSession.Config

        @discardableResult
        func response(
            _ path: URLRequest.Path = "/", _ configure: (inout URLSession.Config) -> Void = { _ in }
        ) async throws -> DataResponse {
            try await session.response(for: .with(api) { $0.path = path }, config: preset, configure)
        }
    }

    private static func serving(
        _ kind: Kind, _ handler: @escaping Handler, _ body: (Client) async throws -> Void
    ) async throws {
        let silent = URLSession.Config().with { $0.logger = nil }
        switch kind {
        case .closure:
            let transport = Transport { try await handler($0.urlRequest) }
            let preset = silent.with { $0.transport = transport }
            try await body(Client(api: .init(host: "http://api.test"), session: .shared, preset: preset))
        case .pieces:
            let transport = Transport { request in
                try await Task.sleep(for: .milliseconds(1))
                var response = try await handler(request.urlRequest)
                response.body = ResponseBody(response.body.inPieces)
                return response
            }
            let preset = silent.with { $0.transport = transport }
            try await body(Client(api: .init(host: "http://api.test"), session: .shared, preset: preset))
        case .socket:
            try await Loopback.serving { request in
                let response = try await handler(try await request.urlRequest)
                var headers = HTTPHeaders()
                for field in response.headerFields { headers[HTTPHeader(field.name.rawName)] = field.value }
                return .init(
                    statusCode: .init(response.status.code, phrase: ""), headers: headers,
                    body: try await response.body.collect())
            } _: { server in
                try await body(Client(api: server.config, session: server.session, preset: silent))
            }
        }
    }

    @Test(arguments: Kind.allCases) func `a response arrives whole`(kind: Kind) async throws {
        try await Self.serving(kind) { request in
            let text = "\(request.httpMethod ?? "") \(request.value(forHTTPHeaderField: "X-Tag") ?? "")"
            return .init(status: .created, headerFields: [.contentType: "text/plain"], body: .init(Data(text.utf8)))
        } _: { client in
            let api = client.api.with {
                $0.method = .put
                $0.headers[HTTPField.Name("X-Tag")!] = "7"
            }
            let response = try await client.session.response(for: .with(api) { _ in }, config: client.preset)
            #expect(response.status == .created)
            #expect(try response.text() == "PUT 7")
            #expect(response.contentType?.essence == "text/plain")
            #expect(response.url == response.request.url)
            #expect(response.attempts.map(\.status) == [.created])
            #expect(!response.fromCache)
        }
    }

    @Test(arguments: Kind.allCases) func `redirects follow their rules`(kind: Kind) async throws {
        try await Self.serving(kind) { request in
            switch request.url?.path() {
            case "/old": .init(status: .seeOther, headerFields: [.location: "/new"], body: .init(Data("moved".utf8)))
            case "/round": .init(status: .found, headerFields: [.location: "/round"])
            default: .init(body: .init(Data((request.httpMethod ?? "").utf8)))
            }
        } _: { client in
            let api = client.api.with { $0.method = .post }
            let old = URLRequest.with(api) {
                $0.path = "/old"
                $0.body = .text("text")
            }
            let followed = try await client.session.response(for: old, config: client.preset)
            #expect(try followed.text() == "GET")
            #expect(followed.attempts.map(\.status?.code) == [303, 200])
            let unfollowed = try await client.response("/old") { $0.redirects = .none }
            #expect(unfollowed.status == .seeOther)
            #expect(try unfollowed.text() == "moved")
            let read = try await client.response("/old") {
                $0.redirects = .init { response, _ in response.data == Data("moved".utf8) ? nil : response.request }
            }
            #expect(read.status == .seeOther)
            let error = await expectError(.refusedRedirect) { try await client.response("/round") }
            #expect(error?.attempts.count == 21)
        }
    }

    @Test(arguments: Kind.allCases) func `transient failures are retried`(kind: Kind) async throws {
        let requests = Recorder<String>()
        try await Self.serving(kind) { request in
            requests.note(request.httpMethod ?? "")
            return requests.entries.count < 3 ? .init(status: .serviceUnavailable) : .init()
        } _: { client in
            let retried = try await client.response { $0.retry = .atOnce() }
            #expect(retried.attempts.map(\.status?.code) == [503, 503, 200])
        }
    }

    @Test(arguments: Kind.allCases) func `a request that is not idempotent is not retried`(kind: Kind) async throws {
        try await Self.serving(kind) { _ in
            .init(status: .serviceUnavailable)
        } _: { client in
            let post = URLRequest.with(client.api) { $0.method = .post }
            let response = try await client.session.response(for: post, config: client.preset) {
                $0.retry = .atOnce()
            }
            #expect(response.status == .serviceUnavailable)
            #expect(response.attempts.count == 1)
        }
    }

    @Test(arguments: Kind.allCases) func `a refused token is refreshed`(kind: Kind) async throws {
        try await Self.serving(kind) { request in
            request.value(forHTTPHeaderField: "Authorization") == "Bearer new"
                ? .init() : .init(status: .unauthorized, body: .init(Data("expired".utf8)))
        } _: { client in
            let authenticator = TokenAuthenticator(hosts: ["http://api.test", "127.0.0.1"]) {
                .init("old")
            } refresh: { _ in
                .init("new")
            }
            let response = try await client.response { $0.authenticator = authenticator }
            #expect(response.attempts.map(\.status?.code) == [401, 200])
        }
    }

    @Test(arguments: Kind.allCases) func `limits, validators and the fallback work`(kind: Kind) async throws {
        try await Self.serving(kind) { _ in
            .init(status: .notFound, body: .init(Data("0123456789".utf8)))
        } _: { client in
            let long = await expectError(.responseTooLarge) { try await client.response { $0.responseLimit = 9 } }
            #expect(long?.response?.data == Data("012345678".utf8))
            #expect(try await client.response { $0.responseLimit = 10 }.data.count == 10)
            await expectError(.unacceptableStatus) { try await client.response { $0.validators = [.success] } }
            let stored = try await client.response { config in
                config.validators = [.success]
                config.fallback = { error, request in
                    DataResponse(request: request, data: Data("\((error as? RequestError)?.code.rawValue ?? "")".utf8))
                }
            }
            #expect(try stored.text() == "unacceptableStatus")
        }
    }

    @Test(arguments: Kind.allCases) func `it is logged as always`(kind: Kind) async throws {
        try await Self.serving(kind) { _ in
            .init(headerFields: [.contentType: "application/json"], body: .init(Data(#"{"token":"s3cret"}"#.utf8)))
        } _: { client in
            let (logger, log) = Logger.recording()
            try await client.response("/log") { $0.logger = logger }
            #expect(log.entries.count == 2)
            #expect(log.text.contains("/log"))
            #expect(!log.text.contains("s3cret"))
        }
    }

    @Test func `credentials stay with their origin`() async throws {
        let seen = Recorder<String>()
        let transport = Transport { request in
            let authorization = request.urlRequest.value(forHTTPHeaderField: "Authorization") ?? "-"
            seen.note("\(authorization) \(request.allowsSessionCredentials)")
            guard request.urlRequest.url?.host() == "one.test" else { return .init() }
            return .init(status: .permanentRedirect, headerFields: [.location: "http://two.test/"])
        }
        let request = URLRequest.with(.init(host: "http://one.test")) { $0.authorization = .bearer("t") }
        try await URLSession.shared.response(for: request) {
            $0.logger = nil
            $0.transport = transport
        }
        #expect(seen.entries == ["Bearer t true", "- false"])
    }
}

extension Loopback.Request {
    /// The request as a `URLRequest`.
    fileprivate var urlRequest: URLRequest {
        get async throws {
            var request = URLRequest(url: try #require(URL(string: "http://api.test" + path)))
            request.httpMethod = method.rawValue
            for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name.rawValue) }
            request.httpBody = try await bodyData
            return request
        }
    }
}

extension ResponseBody {
    /// The same bytes, one or two at a time.
    fileprivate var inPieces: AsyncThrowingStream<Data, any Error> {
        AsyncThrowingStream { continuation in
            let reading = Task {
                do {
                    var rest = try await collect()
                    while !rest.isEmpty {
                        await Task.yield()
                        continuation.yield(Data(rest.prefix(2)))
                        rest = rest.dropFirst(2)
                    }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in reading.cancel() }
        }
    }
}
