#if os(Linux) || os(macOS)

import InMemoryLogging
import Logging
import Testing
import URLConfig
import URLConfigTesting

/// Swapping what is global, each time in a process of its own: no other test can see it.
@Suite struct GlobalsTests {
    @Test func `the default decoder`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            struct Dog: Decodable { var coatColor: String }
            let response = DataResponse(
                request: URLRequest.with(.init(host: "https://dogapi.dog")),
                data: Data(#"{"coat_color":"red"}"#.utf8))
            #expect(throws: RequestError.self) { try response.decode(Dog.self) }
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            DataResponse.Config.defaultDecoder = decoder
            let dog: Dog = try response.decode()
            #expect(dog.coatColor == "red")
        }
    }

    @Test func `the default logger, replaced and silenced`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            let log = Logger.recording()
            try await HTTPStubs.with {
                $0.get("/")
            } operation: {
                for logger in [log.0, nil] {
                    URLSession.Config.defaultLogger = logger
                    try await stubs.session.response(for: stubs.request())
                    #expect(log.1.entries.count == 2)
                }
            }
        }
    }

    @Test func `a token's host that is none is logged, without a password in it`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            let (logger, log) = Logger.recording()
            URLSession.Config.defaultLogger = logger
            _ = TokenAuthenticator(hosts: ["https://ada:s3cret@*.example.com", "api.example.com"]) {
                nil
            } refresh: { _ in
                nil
            }
            #expect(log.entries.map(\.level) == [.error])
            #expect(log.text.contains("'https://***@*.example.com' is ignored because it is not a host;"))
        }
    }

    @Test func `a route of a preset that is no template is logged`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            let (logger, log) = Logger.recording()
            URLSession.Config.defaultLogger = logger
            URLSession.Config.default.routes = ["/users/{id", "users", "/users/{id}"]
            #expect(log.entries.map(\.level) == [.error, .error])
            #expect(log.text.contains("URLSession.Config.routes: '/users/{id' is ignored: '{id' is neither text nor"))
            #expect(log.text.contains("'users' is ignored: it does not begin with /"))
        }
    }

    @Test func `a preset's host that is not one is logged, without a password in it`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            let (logger, log) = Logger.recording()
            URLSession.Config.defaultLogger = logger
            URLSession.Config[host: "https://ada:s3cret@*.example.com"] = .default
            URLSession.Config[host: "api.example.com"] = .default
            #expect(log.entries.map(\.level) == [.error])
            #expect(
                log.text.contains("URLSession.Config[host:]: 'https://***@*.example.com' is ignored because it"))
        }
    }

    @Test func `a preset of a host, replaced and removed`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            try await HTTPStubs.with {
                $0.get("/", .status(.notFound))
            } operation: {
                URLSession.Config.defaultLogger = nil
                let (request, session) = (stubs.request(), stubs.session)
                URLSession.Config[host: "api.test"] = URLSession.Config().with { $0.validators = [.success] }
                await #expect(throws: RequestError.self) { try await session.response(for: request) }
                await #expect(throws: RequestError.self) {
                    try await session.value(for: TypedRequest(request, reader: .text))
                }
                URLSession.Config[host: "api.test"]?.validators = []
                try await session.response(for: request)
                URLSession.Config.default.validators = [.success]
                try await session.response(for: request)
                URLSession.Config[host: "api.test"] = nil
                await #expect(throws: RequestError.self) { try await session.response(for: request) }
            }
        }
    }

    @Test(.inTime)
    func `what a default held may read the defaults as it goes`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            final class Reading: Authenticator {
                func authorize(_ request: inout URLRequest) async throws {}
                deinit { _ = URLSession.Config.defaultLogger }
            }
            URLSession.Config.default.authenticator = Reading()
            URLSession.Config.default.authenticator = nil
            URLSession.Config.default = URLSession.Config().with { $0.authenticator = Reading() }
            URLSession.Config.default = URLSession.Config().with { $0.authenticator = nil }
            URLSession.Config[host: "a.example.com"] = URLSession.Config().with { $0.authenticator = Reading() }
            URLSession.Config[host: "a.example.com"] = nil
        }
    }

    @Test func `the default host`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            URLRequest.Config.defaultHost = "https://api.example.com/v2"
            let request = URLRequest.with { $0.path = "/users" }
            #expect(request.url?.absoluteString == "https://api.example.com/v2/users")
            #expect(URLRequest.Config.default.host == "https://api.example.com/v2")
        }
    }

    @Test func `the default encoder, even of earlier presets`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            let preset = URLRequest.Config(host: "https://api.example.com")
            let encoder = JSONEncoder()
            encoder.keyEncodingStrategy = .convertToSnakeCase
            URLRequest.Config.defaultEncoder = encoder
            let request = URLRequest.with(preset) {
                $0.method = .post
                $0.bodyModel = Dog(coatColor: "red")
            }
            #expect(request.httpBody == Data(#"{"coat_color":"red"}"#.utf8))
        }
    }

    @Test func `the default request configuration, whose credentials stay with its host`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            URLRequest.Config.default = .init(host: "https://api.example.com") { $0.authorization = .bearer("abc") }
            let request = URLRequest.with { $0.path = "/me" }
            #expect(request.url?.absoluteString == "https://api.example.com/me")
            #expect(request.value(forHTTPHeaderField: "Authorization") == "Bearer abc")
            let other = URLRequest.with(.init(host: "https://other.example")) { $0.path = "/me" }
            #expect(other.value(forHTTPHeaderField: "Authorization") == nil)
        }
    }

    @Test func `the default session configuration and redaction`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            URLSession.Config.default.redaction = .standard.adding("dog")
            URLSession.Config.default.validators = [.success]
            let request = URLRequest.with(.init(host: "https://dogapi.dog")) { $0.query["dog"] = "Rex" }
            #expect(request.urlString == "GET https://dogapi.dog?dog=***")
            await #expect(throws: RequestError.self) { try await stubs.get(.status(.notFound)) }
        }
    }
}

private struct Dog: Encodable, Sendable {
    var coatColor: String
}

#endif
