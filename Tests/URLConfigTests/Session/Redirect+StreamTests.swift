import FlyingFox
import Testing

@testable import URLConfig

/// A body stream can be read only once, so a new stream is needed to send the body again.
@Suite(.serialized) struct RedirectStreamTests {
    private func request(_ origins: Origins, _ status: Int) -> URLRequest {
        origins.a.request(to: origins.b.host, status) {
            $0.method = .post
            $0.modify = { $0.httpBodyStream = InputStream(data: Data("content".utf8)) }
        }
    }

    @Test(.urlSessionOnly, arguments: [307, 308])
    func `a delegate gives another stream`(status: Int) async throws {
        try await Origins.serving { origins in
            let response = try await origins.a.response(for: request(origins, status)) {
                $0.taskDelegate = TaskDelegate(stream: { InputStream(data: Data("content again".utf8)) })
            }
            #expect(response.status == .ok)
            #expect(origins.seen.map(\.summary) == ["a POST content", "b POST content again"])
        }
    }

    @Test(arguments: [true, false])
    func `without another stream the call ends`(hasDelegate: Bool) async throws {
        try await Origins.serving { origins in
            let error = await #expect(throws: URLError.self) {
                try await origins.a.response(for: request(origins, 307)) {
                    if hasDelegate { $0.taskDelegate = TaskDelegate() }
                }
            }
            #expect(error?.code == .requestBodyStreamExhausted)
            #expect(error?.attempts.map(\.status?.code) == [307])
            #expect(origins.seen.map(\.origin) == ["a"])
        }
    }

    @Test(arguments: [301, 302, 303])
    func `a request without a body needs no stream`(status: Int) async throws {
        try await Origins.serving { origins in
            let response = try await origins.a.response(for: request(origins, status)) {
                $0.taskDelegate = TaskDelegate(stream: {
                    Issue.record("there is no body")
                    return nil
                })
            }
            #expect(response.status == .ok)
            #expect(origins.seen.map(\.summary) == ["a POST content", "b GET"])
        }
    }
}
