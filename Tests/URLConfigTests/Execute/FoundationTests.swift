#if compiler(>=6.3) && os(Linux)
import FlyingFox
import Testing

@testable import URLConfig

/// Known errors of Foundation on Linux.
///
/// If one of these tests fails, Foundation has been fixed. Then change the test and the documentation.
@Suite(.urlSessionOnly, .inTime) struct FoundationTests {
    /// Responses that crash Foundation itself.
    ///
    /// The lengths are 2⁶³ - 1, 2⁶³ - 2 and 2⁶³ - 512: as a double, each is more than the largest integer. The library
    /// reads cookies itself, so it does not crash with the last one.
    static let crashes: KeyValuePairs<String, FaultServer.Fault> = [
        "fields after the last chunk": .trailers, "a connection that is closed within the head": .truncatedHead,
        "length 1": .length("9223372036854775807"), "length 2": .length("9223372036854775806"),
        "length 3": .length("9223372036854775296"),
        "a redirect to an address in brackets without a scheme": .redirect(to: "//[::1]:1/"),
        "a redirect to a host with an escaped NUL": .redirect(to: "//%00/"),
        "a redirect to a host with an escaped slash": .redirect(to: "//a%2Fb/"),
        "a cookie whose name contains an emoji": .cookie("🙂="),
    ]

    @Test(arguments: crashes.indices)
    func `a response that crashes Foundation`(index: Int) async {
        let child = await #expect(processExitsWith: .failure, observing: [\.exitStatus]) { [index] in
            ChildProcess.endIfStuck()
            try await FaultServer.serving(Self.crashes[index].value) { try await $0.data() }
        }
        // The alarm of `endIfStuck` is no crash.
        guard case .signal(let signal) = child?.exitStatus, signal != SIGALRM else {
            Issue.record("\(Self.crashes[index].key) did not crash, but \(String(describing: child?.exitStatus))")
            return
        }
    }

    @Test func `a correct response, the next smaller length, and a cookie that the library reads crash nothing`() async
    {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            try await FaultServer.serving(.ok("{}")) { try await $0.data() }
            try await FaultServer.serving(.length("9223372036854775295")) { server in
                await #expect(throws: URLError.self) { try await server.data() }
            }
            try await FaultServer.serving(.cookie("🙂=")) { server in
                let response = try await server.get()
                #expect(response.cookies.first?.name == "🙂")
            }
        }
    }

    // What the library does not prevent.

    @Test(arguments: ["X-A:1", "X-A: \u{E9}"])
    func `a legal head is refused, and the request is not sent again`(line: String) async throws {
        // Latin-1, as servers send it.
        let bytes = try #require(
            "HTTP/1.1 200 OK\r\n\(line)\r\nContent-Length: 2\r\n\r\n{}".data(using: .isoLatin1))
        let fault = FaultServer.Fault.reading { connection in
            try connection.send(bytes)
        }
        try await FaultServer.serving(fault) { server in
            let error = await expectError(.cannotParseResponse) { try await server.get { $0.retry = .atOnce() } }
            #expect(error?.attempts.count == 1)
        }
    }

    @Test func `a gzip body that breaks off is a success with what arrived`() async throws {
        let whole = try Shell.run("head -c 1000000 /dev/urandom | gzip -1")
        let fault = FaultServer.Fault.reading { connection in
            try connection.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
            try connection.send(whole.prefix(whole.count / 2))
        }
        try await FaultServer.serving(fault) { server in
            let response = try await server.get()
            #expect(response.isSuccess)
            #expect(1..<1_000_000 ~= response.data.count)
        }
    }

    @Test func `a proxy of the configuration is ignored`() async throws {
        try await FaultServer.serving(.ok("proxy")) { proxy in
            try await FaultServer.serving(.ok("server")) { server in
                let settings: [AnyHashable: Any] = [
                    "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": Int(proxy.port),
                ]
                try await URLSession.with {
                    $0.connectionProxyDictionary = settings
                } _: { session in
                    let response = try await session.response(for: server.request(), config: .silent)
                    #expect(try response.text() == "server")
                }
                #expect(proxy.requests.isEmpty)
            }
        }
    }

    @Test func `a proxy of the environment is used`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            try await FaultServer.serving(.ok("proxy")) { proxy in
                setenv("http_proxy", proxy.host, 1)
                let request = URLRequest.with(.init(host: "http://h.invalid"))
                let response = try await URLSession.shared.response(for: request, config: .silent)
                #expect(try response.text() == "proxy")
            }
        }
    }

    // Redirects that a session follows itself.

    @Test func `credentials are forwarded, a body is lost, and a relative Location is resolved wrongly`() async throws {
        try await Origins.serving { origins in
            try await URLSession.with {
                $0.urlCache = nil
            } _: { session in
                let secret = origins.a.request(to: origins.b.host) {
                    $0.authorization = .bearer("secret")
                    $0.modify = { $0.setValue("secret", forHTTPHeaderField: "X-Api-Key") }
                }
                _ = try await session.data(for: secret)
                #expect(origins.seen.last?.origin == "b")
                #expect(origins.seen.last?.field("Authorization") == "Bearer secret")
                #expect(origins.seen.last?.field("X-Api-Key") == "secret")
                for status in [307, 308] {
                    let post = origins.a.request(to: "/end", status) {
                        ($0.method, $0.body) = (.post, .text("content"))
                    }
                    _ = try await session.data(for: post)
                    #expect(origins.seen.suffix(2).map(\.summary) == ["a POST content", "a POST"])
                }
                _ = try await session.data(for: origins.a.request(to: "?y=1"))
                #expect(origins.seen.last?.target != "/hop?y=1")
            }
        }
    }
}

extension FaultServer {
    /// The result of Foundation for the response, without the library.
    fileprivate func data() async throws {
        _ = try await session.data(for: URLRequest(url: try #require(URL(string: host))))
    }
}
#endif
