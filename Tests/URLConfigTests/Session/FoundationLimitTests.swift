#if os(Linux)
import Testing

@testable import URLConfig

/// Known errors of Foundation on Linux that the library does not prevent.
///
/// If one of these tests fails, Foundation has been fixed. Then change the test and the documentation.
@Suite(.urlSessionOnly, .timeLimit(.minutes(10))) struct FoundationLimitTests {
    private func response(
        to fault: FaultServer.Fault, _ change: @escaping (inout URLSession.Config) -> Void = { _ in }
    ) async throws -> DataResponse {
        var response: DataResponse?
        try await FaultServer.serving(fault) { server in
            response = try await server.get {
                change(&$0)
            }
        }
        return try #require(response)
    }

    @Test(arguments: ["X-A:1", "X-A: \u{E9}"])
    func `a legal head is refused, and not asked for again`(line: String) async throws {
        // Latin-1, as servers send it.
        let bytes = try #require(
            "HTTP/1.1 200 OK\r\n\(line)\r\nContent-Length: 2\r\n\r\n{}".data(using: .isoLatin1))
        let fault = FaultServer.Fault { connection in
            try connection.read()
            try connection.send(bytes)
        }
        let error = await #expect(throws: URLError.self) {
            try await response(to: fault) { $0.retry = .atOnce() }
        }
        #expect(error?.code == .cannotParseResponse)
        #expect(error?.attempts.count == 1)
    }

    @Test func `a gzip body that breaks off is a success with what came`() async throws {
        let whole = try Shell.run("head -c 1000000 /dev/urandom | gzip -1")
        let fault = FaultServer.Fault { connection in
            try connection.read()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
            try connection.send(whole.prefix(whole.count / 2))
        }
        let response = try await response(to: fault)
        #expect(response.isSuccess)
        #expect(1..<1_000_000 ~= response.data.count)
    }

    @Test func `a proxy of the configuration is ignored`() async throws {
        try await FaultServer.serving(.ok("proxy")) { proxy in
            try await FaultServer.serving(.ok("server")) { server in
                let configuration = URLSessionConfiguration.ofTests
                configuration.connectionProxyDictionary = [
                    "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": Int(proxy.port),
                ]
                let session = URLSession(configuration: configuration)
                let response = try await session.response(for: server.request(), config: .silent)
                #expect(try response.text() == "server")
                #expect(proxy.requests.isEmpty)
            }
        }
    }

    @Test func `a proxy of the environment is used`() async {
        await #expect(processExitsWith: .success) {
            try await FaultServer.serving(.ok("proxy")) { proxy in
                setenv("http_proxy", proxy.host, 1)
                let request = URLRequest.with(.init(host: "http://h.invalid"))
                let response = try await URLSession.shared.response(for: request, config: .silent)
                #expect(try response.text() == "proxy")
            }
        }
    }
}
#endif
