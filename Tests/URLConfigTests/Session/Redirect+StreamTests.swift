import FlyingFox
import Testing

@testable import URLConfig

/// A body stream of the caller can be read only once.
@Suite(.serialized) struct RedirectStreamTests {
    private func request(_ origins: Origins, _ status: Int) -> URLRequest {
        origins.a.request(to: origins.b.host, status) {
            $0.method = .post
            $0.modify = { $0.httpBodyStream = InputStream(data: Data("content".utf8)) }
        }
    }

    @Test(arguments: [307, 308])
    func `it cannot be sent again, so the call ends`(status: Int) async throws {
        try await Origins.serving { origins in
            let error = await #expect(throws: URLError.self) {
                try await origins.a.response(for: request(origins, status))
            }
            #expect(error?.code == .requestBodyStreamExhausted)
            #expect(error?.attempts.map(\.status?.code) == [status])
            #expect(origins.seen.map(\.origin) == ["a"])
        }
    }

    @Test(arguments: [301, 302, 303])
    func `a request without a body needs no stream`(status: Int) async throws {
        try await Origins.serving { origins in
            let response = try await origins.a.response(for: request(origins, status))
            #expect(response.status == .ok)
            #expect(origins.seen.map(\.summary) == ["a POST content", "b GET"])
        }
    }
}
