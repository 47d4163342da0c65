import InMemoryLogging
import Logging
import Testing
import URLConfigTesting

@testable import URLConfig

@Suite(.inTime) struct URLSessionConfigTests {
    private struct Named: ResponseDecoder {
        let name: String

        func decode<Model: Decodable>(_ type: Model.Type, from data: Data) throws -> Model {
            try JSONDecoder().decode(type, from: data)
        }
    }

    private struct Refused: Error {}

    private func decoder(of configure: (inout URLSession.Config) -> Void) async throws -> String? {
        try await stubs.get(.json("{}"), configure).decoder.map { ($0 as? Named)?.name ?? "other" }
    }

    @Test func `a response has the decoder of its call, even if a closure makes it, but not if another call does`()
        async throws
    {
        #expect(try await decoder { _ in } == nil)
        let making = try await decoder {
            $0.decoder = Named(name: "own")
            $0.validators = [
                ResponseValidator { response in
                    #expect((response.decoder as? Named)?.name == "own")
                    response = DataResponse(request: response.request)
                },
                ResponseValidator { #expect(($0.decoder as? Named)?.name == "own") },
            ]
        }
        #expect(making == "own")
        for (isOther, name) in [(false, "own"), (true, "other")] {
            let stored = try await decoder {
                $0.decoder = Named(name: "own")
                $0.validators = [ResponseValidator { _ in throw Refused() }]
                $0.fallback = { _, request in
                    guard isOther else { return DataResponse(request: request) }
                    return try await stubs.get(.json("{}")) { $0.decoder = Named(name: "other") }
                }
            }
            #expect(stored == name)
        }
        let error = await expectError(.unauthorized) {
            try await stubs.get(.status(.unauthorized)) {
                $0.decoder = Named(name: "own")
                $0.onUnauthorized = { #expect(($0.decoder as? Named)?.name == "own") }
            }
        }
        #expect((error?.response?.decoder as? Named)?.name == "own")
        let response = try await stubs.get(.json("{}")) { $0.decoder = Named(name: "own") }
        let failure = #expect(throws: RequestError.self) { try response.decode([Int].self, decoder: JSONDecoder()) }
        #expect((failure?.response?.decoder as? Named)?.name == "own")
    }

    @Test func `the bytes of a body that are logged are set by true, false or a number`() {
        var config = URLSession.Config()
        #expect(config.logBody.bytes == 4096)
        let limit = 7
        for (length, bytes) in [(false, 0), (100, 100), (true, 4096), (.init(limit), 7)]
            as [(URLSession.Config.LogBody, Int)]
        {
            config.logBody = length
            #expect(config.logBody.bytes == bytes)
        }
    }

    #if os(Linux) || os(macOS)
    /// In a process of its own, because all tests share the defaults.
    @Test func `a setting that a preset lacks is taken from the defaults when a call begins`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            let (preset, own) = (URLSession.Config(), URLSession.Config().with { $0.redaction = .none })
            let silent = URLSession.Config().with { $0.logger = nil }
            let (logger, log) = Logger.recording()
            URLSession.Config.defaultLogger = logger
            URLSession.Config.default.redaction = .standard.adding("birthday")
            URLSession.Config.default.decoder = Named(name: "later")
            URLSession.Config.default.logBody = 7
            URLSession.Config.default.deadline = .zero
            let request = URLRequest.with(.init(host: "https://h.example")) { $0.query["birthday"] = "18151210" }
            for (config, count, isShown) in [(silent, 0, false), (preset, 2, false), (own, 4, true)] {
                // The deadline was copied when the preset was made.
                let response = try await URLSession.shared.response(for: request, config: config) {
                    $0.transport = Transport { _ in .init() }
                }
                #expect((response.decoder as? Named)?.name == "later")
                #expect(log.entries.count == count)
                #expect(log.text.contains("18151210") == isShown)
            }
            #expect(preset.redaction.hides("birthday") && preset.decoder is Named && preset.logger != nil)
            #expect(preset.logBody.bytes == 7)
        }
    }

    @Test func `names that the app adds to the default count in presets and calls that have others`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            URLSession.Config.default.redaction = .standard.adding("X-Badge")
            let (logger, log) = Logger.recording()
            let (alice, bob) = ("alice-0123456789", "bob-0123456789")
            let api = Transport { request in
                let badge = request.urlRequest.value(forHTTPHeaderField: "X-Badge") ?? "none"
                guard request.urlRequest.url?.path() == "/away" else {
                    return .init(headerFields: [.cacheControl: "max-age=60"], body: .init(Data(badge.utf8)))
                }
                return .init(status: .temporaryRedirect, headerFields: [.location: "https://other.test/"])
            }
            for (index, redaction) in [Redaction.standard.adding("birthday"), .none].enumerated() {
                let preset = URLSession.Config().with {
                    ($0.transport, $0.redaction, $0.cache) = (api, redaction, .memory(megabytes: 1))
                    $0.logger = index == 0 ? logger : nil
                }
                func body(_ path: String, badge: String) async throws -> String {
                    let request = URLRequest.with(.init(host: "https://api.test")) {
                        ($0.path, $0.headers["X-Badge"]) = (.init(path), badge)
                    }
                    return try await URLSession.shared.response(for: request, config: preset).text()
                }
                for (path, badge, expected) in [("/", alice, alice), ("/", bob, bob), ("/away", alice, "none")] {
                    let body = try await body(path, badge: badge)
                    #expect(body == expected)
                }
                #expect(preset.redaction.hides("X-Badge") == (index == 0))
                #expect(preset.redaction.hides("birthday") == (index == 0))
            }
            #expect(log.entries.count > 0)
            #expect(!log.text.contains("-0123456789"))
        }
    }
    #endif

    @Test func `a transport of an app can be tested alone, with a request of the test`() async throws {
        let echo = Transport { request in
            .init(headerFields: [.eTag: "1"], body: .init(Data((request.urlRequest.url?.path() ?? "").utf8)))
        }
        let request = URLRequest.with(.init(host: "https://h.example")) { $0.path = "/users/1" }
        let response = try await echo.send(Transport.Request(request))
        #expect(response.headerFields[.eTag] == "1")
        #expect(try await response.body.collect() == Data("/users/1".utf8))
        await expectError(.invalidURL) { try await echo.send(.init(URLRequest(url: URL(filePath: "/etc/hosts")))) }
    }

    @Test func `a dump of a configuration contains no token`() {
        struct Secret: Authenticator {
            let token = "s3cret"
            func authorize(_ request: inout URLRequest) async throws {}
        }
        var text = ""
        dump(URLSession.Config().with { $0.authenticator = Secret() }, to: &text)
        #expect(text.contains("authenticator: ") && !text.contains("s3cret"))
    }
}
