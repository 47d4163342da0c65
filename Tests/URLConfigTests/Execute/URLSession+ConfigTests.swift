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

    private func decoder(of configure: (inout URLSession.Config) -> Void) async throws -> String? {
        try await Loopback.get(.json("{}"), configure).decoder.map { ($0 as? Named)?.name ?? "other" }
    }

    @Test func `a response has the decoder of its call`() async throws {
        #expect(try await decoder { $0.decoder = Named(name: "own") } == "own")
        #expect(try await decoder { _ in } == nil)
    }

    @Test func `a validator's response has the decoder, also one that the validator makes`() async throws {
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
        let own = try await decoder {
            $0.decoder = Named(name: "own")
            $0.validators = [ResponseValidator { _ in throw Refused() }]
            $0.fallback = { _, request in DataResponse(request: request) }
        }
        #expect(own == "own")
        let other = try await decoder {
            $0.decoder = Named(name: "own")
            $0.validators = [ResponseValidator { _ in throw Refused() }]
            $0.fallback = { _, _ in try await Loopback.get(.json("{}")) { $0.decoder = Named(name: "other") } }
        }
        #expect(other == "other")
    }

    @Test func `a refusal and an error have the decoder, too`() async throws {
        let error = await expectError(.unauthorized) {
            try await Loopback.get(.status(.unauthorized)) {
                $0.decoder = Named(name: "own")
                $0.onUnauthorized = { #expect(($0.decoder as? Named)?.name == "own") }
            }
        }
        #expect((error?.response?.decoder as? Named)?.name == "own")
    }

    @Test func `the bytes of a body that are logged are set by true, false or a number`() {
        var config = URLSession.Config()
        #expect(config.logBody.bytes == 4096)
        for (length, bytes) in [(false, 0), (100, 100), (true, 4096)] as [(URLSession.Config.LogBody, Int)] {
            config.logBody = length
            #expect(config.logBody.bytes == bytes)
        }
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
