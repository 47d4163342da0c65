#if canImport(FoundationNetworking)
import Testing

@testable import URLConfig

/// The `httpAdditionalHeaders` of a session's configuration.
@Suite(.silentByDefault, .inTime) struct SessionFieldsTests {
    private func head(_ fields: [AnyHashable: Any], _ change: (inout URLRequest) -> Void = { _ in }) async throws
        -> String
    {
        var head = ""
        try await FaultServer.serving(.ok("{}")) { server in
            var request = server.request()
            change(&request)
            try await URLSession.with {
                $0.httpAdditionalHeaders = fields
            } _: {
                _ = try await $0.response(for: request, config: .silent).validated()
            }
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

    @Test func `a cookie of the storage that would break the field is not sent`() throws {
        let configuration = URLSessionConfiguration.ofTests
        for (name, value) in [("a", "1\u{1}"), ("b", "2"), ("c", "1; d=2"), ("e; f", "3"), ("g=h", "4")] {
            configuration.httpCookieStorage?.setCookie(
                try #require(
                    HTTPCookie(properties: [.name: name, .value: value, .domain: "h.example", .path: "/"])))
        }
        var request = URLRequest(url: try #require(URL(string: "https://h.example/")))
        SessionFields(configuration).add(to: &request, without: nil)
        #expect(request.value(forHTTPHeaderField: "Cookie") == "b=2")
    }

    @Test func `a time limit of seven days is none, because it is the default`() {
        let configuration = URLSessionConfiguration.ofTests
        #expect(configuration.resourceLimit == nil)
        configuration.timeoutIntervalForResource = 5
        #expect(configuration.resourceLimit == .seconds(5))
    }
}
#endif
