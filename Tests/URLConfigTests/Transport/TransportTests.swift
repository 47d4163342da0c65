import InMemoryLogging
import Logging
import Testing

@testable import URLConfig

/// The policies of a call on a transport of an app, whose bodies arrive one or two bytes at a time.
@Suite(.inTime) struct TransportTests {
    /// Sends a request to a service.
    private func response(
        for request: URLRequest = stubs.request("/"),
        from service: @escaping @Sendable (URLRequest) -> Transport.Response,
        _ configure: (inout URLSession.Config) -> Void = { _ in }
    ) async throws -> DataResponse {
        try await stubs.response(for: request) {
            $0.transport = Transport { request in
                var response = service(request.urlRequest)
                response.body = ResponseBody(response.body.inPieces)
                return response
            }
            configure(&$0)
        }
    }

    private static func text(_ text: String, _ status: Status = .ok, _ fields: HTTPFields = [:]) -> Transport.Response {
        .init(status: status, headerFields: fields, body: .init(Data(text.utf8)))
    }

    @Test func `a response arrives whole`() async throws {
        let request = stubs.request { ($0.method, $0.headers[.accept]) = (.put, "7") }
        let response = try await response(for: request) { request in
            Self.text(
                "\(request.httpMethod ?? "") \(request.field("Accept") ?? "")", .created, [.contentType: "text/plain"])
        }
        #expect(response.status == .created)
        #expect(try response.text() == "PUT 7")
        #expect(response.contentType?.essence == "text/plain")
        #expect(response.url == response.request.url)
        #expect(response.attempts.map(\.status) == [.created])
        #expect(!response.fromCache)
    }

    @Test func `redirects follow their rules`() async throws {
        let service = { @Sendable (request: URLRequest) in
            request.url?.path() == "/old"
                ? Self.text("moved", .seeOther, [.location: "/new"]) : Self.text(request.httpMethod ?? "")
        }
        let old = stubs.request("/old") { ($0.method, $0.body) = (.post, .text("text")) }
        let followed = try await response(for: old, from: service)
        #expect(try followed.text() == "GET")
        #expect(followed.attempts.map(\.status?.code) == [303, 200])
        for policy in [RedirectPolicy.none, .init { $0.data == Data("moved".utf8) ? nil : $1 }] {
            let unfollowed = try await response(for: old, from: service) { $0.redirects = policy }
            #expect(unfollowed.status == .seeOther)
            #expect(try unfollowed.text() == "moved")
        }
    }

    @Test func `a failure is retried, unless its method is not idempotent, and a refused token is refreshed`()
        async throws
    {
        for method in [HTTPRequest.Method.get, .post] {
            let requests = Recorder<Void>()
            let response = try await response(for: stubs.request { $0.method = method }) { request in
                if requests.note(()) < 3 { return Self.text("busy", .serviceUnavailable) }
                return request.field("Authorization") == "Bearer new" ? Self.text("") : Self.text("old", .unauthorized)
            } _: {
                $0.retry = .atOnce(4)
                $0.authenticator = TokenAuthenticator("old") { _ in "new" }
            }
            #expect(response.attempts.map(\.status?.code) == (method == .get ? [503, 503, 401, 200] : [503]))
        }
    }

    @Test func `limits, validators and the fallback work`() async throws {
        let service = { @Sendable (_: URLRequest) in Self.text("0123456789", .notFound) }
        let long = await expectError(.responseTooLarge) { try await response(from: service) { $0.responseLimit = 9 } }
        #expect(long?.response?.data == Data("012345678".utf8))
        #expect(try await response(from: service) { $0.responseLimit = 10 }.data.count == 10)
        let stored = try await response(from: service) {
            $0.validators = [.success]
            $0.fallback = { error, request in
                DataResponse(request: request, data: Data("\((error as? RequestError)?.code.rawValue ?? "")".utf8))
            }
        }
        #expect(try stored.text() == "unacceptableStatus")
    }

    @Test func `it is logged as always`() async throws {
        let (logger, log) = Logger.recording()
        _ = try await response(for: stubs.request("/log")) { _ in
            Self.text(#"{"token":"s3cret"}"#, .ok, [.contentType: "application/json"])
        } _: {
            $0.logger = logger
        }
        #expect(log.entries.count == 2)
        #expect(log.text.contains("/log"))
        #expect(!log.text.contains("s3cret"))
    }

    @Test func `credentials stay with their origin`() async throws {
        let seen = Recorder<String>()
        let transport = Transport { request in
            seen.note("\(request.urlRequest.field("Authorization") ?? "-") \(request.allowsSessionCredentials)")
            guard request.urlRequest.url?.host() == "api.test" else { return .init() }
            return .init(status: .permanentRedirect, headerFields: [.location: "http://two.test/"])
        }
        try await stubs.response(for: stubs.request { $0.authorization = .bearer("t") }) { $0.transport = transport }
        #expect(seen.entries == ["Bearer t true", "- false"])
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
