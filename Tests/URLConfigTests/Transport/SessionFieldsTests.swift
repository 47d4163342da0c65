#if canImport(FoundationNetworking)
import Testing

@testable import URLConfig

/// The `httpAdditionalHeaders` of a session's configuration.
@Suite(.silentByDefault, .timeLimit(.minutes(10))) struct SessionFieldsTests {
    private func head(_ fields: [AnyHashable: Any], _ change: (inout URLRequest) -> Void = { _ in }) async throws
        -> String
    {
        let configuration = URLSessionConfiguration.ofTests
        configuration.httpAdditionalHeaders = fields
        let session = URLSession(configuration: configuration)
        var head = ""
        try await FaultServer.serving(.ok("{}")) { server in
            var request = server.request()
            change(&request)
            let response = try await session.response(for: request, config: .silent)
            #expect(response.isSuccess)
            #expect(server.requests.count == 1)
            head = server.requests.first?.head ?? ""
        }
        return head
    }

    @Test func `they are sent, but for those that the request has`() async throws {
        let head = try await head(["X-One": "1", "x-two": "2"]) {
            $0.setValue("mine", forHTTPHeaderField: "X-Two")
        }
        #expect(head.contains("\r\nX-One: 1\r\n"))
        #expect(head.lowercased().contains("\r\nx-two: mine\r\n"))
        #expect(!head.contains(": 2\r\n"))
    }

    @Test(arguments: [
        ("X-Inj\r\nInjected", "1"), ("X-Inj", "1\r\nInjected: 1"), ("X-Inj", "\u{0}Injected"), ("X Injected", "1"),
        ("", "Injected"), ("Content-Length", "5"), ("transfer-encoding", "chunked"), ("Host", "injected.example"),
    ])
    func `one that cannot be sent is ignored, and the others are sent`(name: String, value: String) async throws {
        let head = try await head([name: value, "X-Good": "1"])
        #expect(head.contains("\r\nX-Good: 1\r\n"))
        #expect(!head.lowercased().contains("inj"))
        #expect(!head.lowercased().contains("content-length"))
        #expect(!head.lowercased().contains("transfer-encoding"))
    }
}
#endif
