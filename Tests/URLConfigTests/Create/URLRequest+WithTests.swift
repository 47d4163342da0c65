import Foundation
import Testing

@testable import URLConfig

/// Requests that cannot be built: nothing traps, nothing is sent, and every copy keeps the reason.
@Suite struct URLRequestWithTests {
    private struct Failure: Error {}

    private static func bad(_ configure: (inout URLRequest.Config) -> Void) -> URLRequest.Config {
        .init(host: "https://h.example", configure)
    }

    private static let inputs: [(String, URLRequest.Config, RequestError.Code)] = [
        ("host", bad { $0.host = "" }, .invalidURL),
        ("scheme", bad { $0.host = "ftp://h.example" }, .invalidURL),
        ("hostile host", bad { $0.host = "https://\u{0}\n%zz\u{1F600}[" }, .invalidURL),
        ("path", bad { $0.path = "/a/\("..")" }, .invalidURL),
        ("empty value", bad { $0.path = "/a/\("")/b" }, .invalidURL),
        ("query", bad { $0.query = URLRequest.Query([[1]]) }, .invalidURL),
        ("field", bad { $0.headers[.contentLength] = "1" }, .invalidRequest),
        ("token", bad { $0.authorization = .bearer("a\nb") }, .invalidRequest),
        ("own credentials", bad { $0.authorization = Authorization { _ in throw Failure() } }, .invalidRequest),
        ("body of a GET", bad { $0.body["a"] = 1 }, .invalidRequest),
        ("number", bad { $0.body["a"] = Double.nan }, .invalidRequest),
        ("own body", bad { $0.body = RequestBody { _, _ in throw Failure() } }, .invalidRequest),
    ]

    @Test(arguments: inputs.indices)
    func `bad input gives a request that keeps the reason`(index: Int) throws {
        let (name, config, code) = Self.inputs[index]
        let thrown = try #require(config.refusal, "\(name)")
        let request = URLRequest.with(config) { _ in }
        let refusal = try #require(request.refusal, "\(name)")
        #expect(thrown.code == code)
        #expect(refusal.code == code)
        #expect(refusal.reason == thrown.reason)
        #expect(!thrown.reason.isEmpty)
        #expect(refusal.description == thrown.description)
    }

    @Test func `the refusal survives copies and changes`() throws {
        let request = URLRequest.with(Self.bad { $0.path = "/a/\("..")/\u{E9} '?#&" }) { $0.method = .post }
        var copy = request
        copy.setValue("a/b", forHTTPHeaderField: "Accept")
        copy.httpBody = Data("x".utf8)
        let copies = [copy, (request as NSURLRequest) as URLRequest]
        for copy in copies {
            #expect(copy.refusal?.reason == request.refusal?.reason)
            #expect(copy.httpMethod == "POST")
        }
    }

    @Test func `no other request has a refusal`() throws {
        #expect(URLRequest.with(.init(host: "https://h.example")) { _ in }.refusal == nil)
        let urls = ["https://h.example", "file:///a", "data:,a", "unsendable:a", "a/b"]
        for url in urls { #expect(URLRequest(url: try #require(URL(string: url))).refusal == nil) }
    }

    @Test(arguments: inputs.indices)
    func `a plain session refuses it as an unsupported URL`(index: Int) async throws {
        let request = URLRequest.with(Self.inputs[index].1) { _ in }
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        let error = await #expect(throws: URLError.self) { _ = try await session.data(for: request) }
        #expect(error?.code == .unsupportedURL)
    }

    @Test func `a refusal shows no secret of the body or the credentials`() {
        let config = Self.bad {
            $0.authorization = .bearer("s3cret")
            $0.body["password"] = "s3cret"
            $0.query["token"] = "s3cret"
        }
        #expect(config.refusal?.description.contains("s3cret") == false)
        #expect(URLRequest.with(config) { _ in }.urlText.contains("s3cret") == false)
    }

    @Test func `a hostile reason does not break the carrying URL`() throws {
        let name = "a?b#c&d=%zz/\u{0}\r\n\u{1F600}'\""
        let config = Self.bad {
            $0.body = .text("x")
            $0.body[name] = 1
        }
        let refusal = try #require(URLRequest.with(config) { _ in }.refusal)
        #expect(refusal.reason.contains(name))
        #expect(!refusal.description.contains("\u{0}"))
    }
}
