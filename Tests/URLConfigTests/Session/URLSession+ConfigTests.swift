import FlyingFox
import Testing

@testable import URLConfig

@Suite struct URLSessionConfigTests {
    private struct Named: ResponseDecoder {
        let name: String

        func decode<Model: Decodable>(_ type: Model.Type, from data: Data) throws -> Model {
            try JSONDecoder().decode(type, from: data)
        }
    }

    private struct Refused: Error {}

    private func decoder(
        of config: (inout URLSession.Config) -> Void, path: URLRequest.Path = "/"
    ) async throws -> String? {
        let decoder = Locked<String?>(nil)
        try await Loopback.serving { _ in
            .json("{}")
        } _: { server in
            let response = try await server.get(path) { config(&$0) }
            decoder.set(\.self, (response.decoder as? Named)?.name ?? response.decoder.map { _ in "other" })
        }
        return decoder.withLock { $0 }
    }

    @Test func `a response remembers the decoder of its call`() async throws {
        #expect(try await decoder { $0.decoder = Named(name: "own") } == "own")
        #expect(try await decoder { _ in } == nil)
    }

    @Test func `a validator sees the decoder, and so does a response that it makes`() async throws {
        let name = try await decoder {
            $0.decoder = Named(name: "own")
            $0.validators = [
                ResponseValidator { response in
                    #expect((response.decoder as? Named)?.name == "own")
                    response = DataResponse(request: response.request)
                },
                ResponseValidator { #expect(($0.decoder as? Named)?.name == "own") },
            ]
        }
        #expect(name == "own")
    }

    @Test func `a fallback's response has the decoder, unless it is one of another call`() async throws {
        let made = try await decoder {
            $0.decoder = Named(name: "own")
            $0.validators = [ResponseValidator { _ in throw Refused() }]
            $0.fallback = { _, request in DataResponse(request: request) }
        }
        #expect(made == "own")
        try await Loopback.serving { _ in
            .json("{}")
        } _: { server in
            let response = try await server.get {
                $0.decoder = Named(name: "own")
                $0.validators = [ResponseValidator { _ in throw Refused() }]
                $0.fallback = { _, _ in try await server.get { $0.decoder = Named(name: "other") } }
            }
            #expect((response.decoder as? Named)?.name == "other")
        }
    }

    @Test func `a refusal and an error remember the decoder, too`() async throws {
        try await Loopback.serving { _ in
            .status(.unauthorized)
        } _: { server in
            let error = await #expect(throws: RequestError.self) {
                try await server.get {
                    $0.decoder = Named(name: "own")
                    $0.onUnauthorized = { #expect(($0.decoder as? Named)?.name == "own") }
                }
            }
            #expect((error?.response?.decoder as? Named)?.name == "own")
        }
    }

    @Test func `the length of logged bodies is a truth value or a number of bytes`() {
        var config = URLSession.Config()
        #expect(config.logBody.bytes == 4096)
        config.logBody = false
        #expect(config.logBody.bytes == 0)
        config.logBody = 100
        #expect(config.logBody.bytes == 100)
        config.logBody = true
        #expect(config.logBody.bytes == 4096)
    }

    @Test func `without a budget, every attempt is made`() async throws {
        let budget = RetryBudget()
        let time = ContinuousClock.now + .seconds(3600)
        while budget.spend("127.0.0.1", at: time) {}
        try await Loopback.serving { _ in
            .status(.serviceUnavailable)
        } _: { server in
            for isBudgeted in [true, false] {
                let response = try await server.get {
                    $0.retry = .atOnce(3, budget: budget)
                    $0.retry.isBudgeted = isBudgeted
                }
                #expect(response.attempts.count == (isBudgeted ? 1 : 3))
            }
        }
    }

    @Test func `what is dumped of a configuration has no token`() {
        struct Secret: Authenticator {
            let token = "s3cret"
            func authorize(_ request: inout URLRequest) async throws {}
        }
        var text = ""
        dump(URLSession.Config().with { $0.authenticator = Secret() }, to: &text)
        #expect(text.contains("authenticator: ") && !text.contains("s3cret"))
    }
}
