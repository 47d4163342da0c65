#if os(Linux) || os(macOS)

import InMemoryLogging
import Logging
import Testing
import URLConfigTesting

@testable import URLConfig

/// Swapping what is global, each time in a process of its own: no other test can see it.
@Suite struct GlobalsTests {
    @Test func `the default decoder, at the time when a response or a member of a problem is read`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            struct Dog: Decodable { var coatColor: String }
            let response = DataResponse(
                request: URLRequest.with(.init(host: "https://dogapi.dog")),
                headerFields: [.contentType: "application/problem+json"],
                data: Data(#"{"coat_color":"red","dog":{"coat_color":"red"}}"#.utf8))
            let (problem, reader) = (response.problem, ResponseReader<Dog>.json)
            #expect(throws: RequestError.self) { try response.decode(Dog.self) }
            #expect(problem != nil && problem?["dog", as: Dog.self] == nil)
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            DataResponse.Config.defaultDecoder = decoder
            let dog: Dog = try response.decode()
            #expect(dog.coatColor == "red")
            #expect(problem?["dog", as: Dog.self]?.coatColor == "red")
            #expect(try reader.read(response).coatColor == "red")
            // The decoder of the default preset has priority, also for what no call has received.
            URLSession.Config.default.decoder = JSONDecoder()
            #expect(throws: RequestError.self) { try response.decode(Dog.self) }
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

    @Test func `hosts and routes that are none are logged, without a password in them`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            let (logger, log) = Logger.recording()
            URLSession.Config.defaultLogger = logger
            _ = TokenAuthenticator(hosts: ["https://ada:s3cret@*.example.com", "api.example.com"]) {
                nil
            } refresh: { _ in
                nil
            }
            URLSession.Config[host: "https://ada:s3cret@*.example.com"] = .default
            URLSession.Config[host: "api.example.com"] = .default
            URLSession.Config.default.routes = ["/users/{id", "users", "/users/{id}"]
            #expect(log.entries.map(\.level) == Array(repeating: .error, count: 4))
            let lines = log.text.split(separator: "\n")
            #expect(lines[0].contains("'https://***@*.example.com' is ignored because it is not a host;"))
            #expect(lines[1].contains("URLSession.Config[host:]: 'https://***@*.example.com' is ignored because it"))
            #expect(lines[2].contains("URLSession.Config.routes: '/users/{id' is ignored: '{id' is neither text nor"))
            #expect(lines[3].contains("'users' is ignored: it does not begin with /"))
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

    @Test func `the defaults are used, even by presets that were made before`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            let preset = URLRequest.Config(host: "https://api.example.com")
            let encoder = JSONEncoder()
            encoder.keyEncodingStrategy = .convertToSnakeCase
            URLRequest.Config.defaultEncoder = encoder
            let encoded = URLRequest.with(preset) {
                $0.method = .post
                $0.bodyModel = Dog(coatColor: "red")
            }
            #expect(encoded.httpBody == Data(#"{"coat_color":"red"}"#.utf8))

            let response = DataResponse(request: encoded, data: Data(#"{"coat_color":"red"}"#.utf8))
            #expect(throws: RequestError.self) { try response.decode(Dog.self) }
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            DataResponse.Config.defaultDecoder = decoder
            let dog: Dog = try response.decode()
            #expect(dog.coatColor == "red")

            URLRequest.Config.defaultHost = "https://api.example.com/v2"
            let request = URLRequest.with { $0.path = "/users" }
            #expect(request.url?.absoluteString == "https://api.example.com/v2/users")
            #expect(URLRequest.Config.default.host == "https://api.example.com/v2")
        }
    }

    @Test func `a default cache, which gives the second call its response`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            let sent = Recorder<Void>()
            URLSession.Config.defaultLogger = nil
            URLSession.Config.default.cache = .memory(megabytes: 1)
            URLSession.Config.default.transport = Transport { _ in
                sent.note(())
                return .init(headerFields: [.cacheControl: "max-age=60"], body: .init(Data("a".utf8)))
            }
            for isHit in [false, true] {
                let response = try await URLSession.shared.response(for: stubs.request("/a"))
                #expect(response.cacheStatus?.isHit == isHit)
                #expect(response.data == Data("a".utf8))
            }
            #expect(sent.count == 1)
        }
    }

    @Test func `the default configurations, with credentials that stay with their host`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            URLRequest.Config.default = .init(host: "https://api.example.com") { $0.authorization = .bearer("abc") }
            let request = URLRequest.with { $0.path = "/me" }
            #expect(request.url?.absoluteString == "https://api.example.com/me")
            #expect(request.value(forHTTPHeaderField: "Authorization") == "Bearer abc")
            let other = URLRequest.with(.init(host: "https://other.example")) { $0.query["dog"] = "Rex" }
            #expect(other.value(forHTTPHeaderField: "Authorization") == nil)

            URLSession.Config.default.redaction = .standard.adding("dog")
            URLSession.Config.default.validators = [.success]
            #expect(other.urlString == "GET https://other.example?dog=***")
            await #expect(throws: RequestError.self) { try await stubs.get(.status(.notFound)) }
        }
    }
}

private struct Dog: Codable, Sendable {
    var coatColor: String
}

#endif
