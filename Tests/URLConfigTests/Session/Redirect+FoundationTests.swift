#if os(Linux)

import FlyingFox
import Testing
import URLConfig

/// How `URLSession` itself handles redirects on Linux; if one of these tests fails, Foundation has been fixed.
@Suite(.urlSessionOnly, .serialized) struct RedirectFoundationTests {
    private func text(_ origins: Origins, _ request: URLRequest) async throws -> String {
        let configuration = URLSessionConfiguration.ofTests
        configuration.urlCache = nil
        let session = URLSession(configuration: configuration)
        defer { session.finishTasksAndInvalidate() }
        let (data, _) = try await session.data(for: request)
        return String(decoding: data, as: UTF8.self)
    }

    @Test func `credentials are forwarded to other origins`() async throws {
        try await Origins.serving { origins in
            let request = origins.a.request(to: origins.b.host) {
                $0.authorization = .bearer("secret")
                $0.modify = { $0.setValue("secret", forHTTPHeaderField: "X-Api-Key") }
            }
            let text = try await text(origins, request)
            #expect(text == "200 of b")
            #expect(origins.seen.last?.field("Authorization") == "Bearer secret")
            #expect(origins.seen.last?.field("X-Api-Key") == "secret")
        }
    }

    @Test(arguments: [307, 308])
    func `the body is lost`(status: Int) async throws {
        try await Origins.serving { origins in
            let request = origins.a.request(to: "/end", status) {
                $0.method = .post
                $0.body = .text("content")
            }
            _ = try await text(origins, request)
            #expect(origins.seen.map(\.summary) == ["a POST content", "a POST"])
        }
    }

    @Test func `a relative Location loses its folder and its query`() async throws {
        try await Origins.serving { origins in
            _ = try await text(origins, origins.a.request(to: "?y=1"))
            #expect(origins.seen.last?.target != "/hop?y=1")
        }
    }
}

#endif
