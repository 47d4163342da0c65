import FlyingFox
import Testing

@testable import URLConfig

/// Schemes, whose case is ignored (RFC 3986 §3.1).
@Suite struct URLSchemeTests {
    @Test(arguments: [
        ("HTTP://h.example/A?B#C", "http://h.example/A?B#C"), ("hTTps://H", "https://H"), ("http://h", "http://h"),
        ("HTTP:", "http:"), ("/HTTP", "/HTTP"),
    ])
    func `a scheme in lower case`(text: String, expected: String) throws {
        #expect(try #require(URL(string: text)).withLowercasedScheme.absoluteString == expected)
    }

    @Test func `an upper-case scheme is as good as any, in hosts and in redirects`() async throws {
        try await Loopback.serving { request in
            guard request.path == "/a" else { return .json("{}") }
            let target = "HTTP://\(request.headers[.host] ?? "")/b"
            return FlyingFox.HTTPResponse(statusCode: .found, headers: HTTPHeaders([.location: target]))
        } _: { server in
            let host = server.host.replacing("http", with: "HTTP")
            let response = try await server.response(for: .with(.init(host: host)) { $0.path = "a" })
            #expect(response.isSuccess)
            #expect(response.url?.absoluteString == server.host + "/b")
            let byHand = URLRequest(url: try #require(URL(string: host + "/c")))
            #expect(try await server.response(for: byHand).isSuccess)
        }
    }
}
