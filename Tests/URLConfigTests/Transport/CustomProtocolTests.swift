import Testing

@testable import URLConfig

/// A custom `URLProtocol`, for example a stub, in the configuration of a session.
@Suite(.urlSessionOnly, .inTime) struct CustomProtocolTests {
    private func response(
        _ path: String, _ configure: (inout URLRequest.Config) -> Void = { _ in }
    ) async throws -> DataResponse {
        let request = URLRequest.with(.init(host: "https://stub.invalid")) {
            $0.path = .init(path)
            configure(&$0)
        }
        return try await URLSession.with {
            $0.protocolClasses = [Stub.self]
        } _: {
            try await $0.response(for: request, config: .silent)
        }
    }

    @Test func `all pieces of a body arrive`() async throws {
        let response = try await response("/pieces")
        #expect(try response.text() == "one two three")
        #expect(response.status == .accepted)
    }

    @Test func `its failure is the call's`() async throws {
        await expectError(.notConnectedToInternet) { try await response("/failure") }
    }

    @Test(arguments: ["/file", "/status"])
    func `a response that is not HTTP is refused, and traps nowhere`(path: String) async throws {
        await expectError(.invalidResponse) { try await response(path) }
    }

    @Test func `it sees the body of a request, as a stream`() async throws {
        let response = try await response("/echo") {
            $0.method = .post
            $0.body = .text("some content")
        }
        #expect(try response.text() == "some content")
    }
}

private final class Stub: URLProtocol {
    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    override func stopLoading() {}

    override func startLoading() {
        guard let url = request.url else { return }
        switch url.path() {
        case "/failure":
            client?.urlProtocol(self, didFailWithError: URLError(.notConnectedToInternet))
            return
        case "/file":
            let response = URLResponse(
                url: url, mimeType: "text/plain", expectedContentLength: -1, textEncodingName: nil)
            client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        case "/status":
            send(url, status: 1000)
        case "/echo":
            send(url, status: 200)
            let body = request.httpBody ?? (try? request.httpBodyStream?.readToEnd())
            client?.urlProtocol(self, didLoad: body ?? Data())
        default:
            send(url, status: 202)
            for piece in ["one ", "two ", "three"] { client?.urlProtocol(self, didLoad: Data(piece.utf8)) }
        }
        client?.urlProtocolDidFinishLoading(self)
    }

    private func send(_ url: URL, status: Int) {
        guard let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: [:]) else {
            return
        }
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
    }
}
