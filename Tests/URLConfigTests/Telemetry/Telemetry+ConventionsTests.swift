#if Telemetry

import InMemoryTracing
import Testing
import Tracing

@testable import URLConfig

#if AsyncHTTPClient
import AsyncHTTPClient
#endif

/// Every attribute that the conventions of OpenTelemetry require, and no other, on each transport.
@Suite(.inTime) struct TelemetryConventionsTests {
    enum Wire: String, CaseIterable, Sendable {
        case urlSession
        #if AsyncHTTPClient
        case asyncHTTPClient
        #endif

        var transport: Transport {
            #if AsyncHTTPClient
            if self == .asyncHTTPClient { return .asyncHTTPClient }
            #endif
            return .urlSession
        }

        /// Those that send requests to an IPv6 address: Foundation on Linux does not.
        static var ofIPv6: [Self] {
            #if canImport(FoundationNetworking)
            return allCases.filter { $0 != .urlSession }
            #else
            return allCases
            #endif
        }
    }

    /// What a span is called, and which attributes it has beside those that all have.
    struct Expected: Sendable {
        var name = "GET"
        var path: String?
        var attributes: [String: String]
    }

    struct Scenario: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var method = "GET"
        var path = "/200"
        /// The server, if it is not the one of the test.
        var stub: (host: String, address: String, port: String)?
        var timeout: TimeInterval = 60
        var isCancelled = false
        var spans: [Expected]
        var configure: @Sendable (inout URLSession.Config) -> Void = { _ in }
    }

    private static let success = ["http.response.status_code": "200"]

    private static func failure(_ status: Int, resends: Int? = nil) -> [String: String] {
        ["http.response.status_code": "\(status)", "error.type": "\(status)"]
    }

    static let scenarios = [
        Scenario(testDescription: "200", spans: [.init(attributes: success)]),
        Scenario(testDescription: "404", path: "/404", spans: [.init(attributes: failure(404))]),
        Scenario(testDescription: "500", path: "/500", spans: [.init(attributes: failure(500))]),
        Scenario(
            testDescription: "retry", path: "/busy",
            spans: [
                .init(attributes: failure(503)),
                .init(attributes: success.merging(["http.request.resend_count": "1"]) { $1 }),
            ]
        ) { $0.retry = .standard.quick },
        Scenario(
            testDescription: "redirect", path: "/moved",
            spans: [
                .init(attributes: ["http.response.status_code": "302"]),
                .init(path: "/200", attributes: success.merging(["http.request.resend_count": "1"]) { $1 }),
            ]),
        Scenario(
            testDescription: "refresh", path: "/members",
            spans: [
                .init(attributes: failure(401)),
                .init(attributes: success.merging(["http.request.resend_count": "1"]) { $1 }),
            ]
        ) { $0.authenticator = CountingAuthenticator() },
        Scenario(
            testDescription: "timeout", path: "/hang", timeout: 0.1,
            spans: [.init(attributes: ["error.type": "timeout"])]),
        Scenario(testDescription: "cancel", path: "/hang", isCancelled: true, spans: [.init(attributes: [:])]),
        Scenario(
            testDescription: "unknown method", method: "BREW",
            spans: [
                .init(
                    name: "HTTP",
                    attributes: success.merging(
                        ["http.request.method": "_OTHER", "http.request.method_original": "BREW"]) { $1 })
            ]),
        Scenario(testDescription: "QUERY", method: "QUERY", spans: [.init(name: "QUERY", attributes: success)]),
        Scenario(
            testDescription: "default port", stub: ("https://api.test", "api.test", "443"),
            spans: [.init(attributes: success)]),
        Scenario(
            testDescription: "secrets in the query",
            path: "/200?page=2&sig=s-123456&api_key=k-123456&AWSAccessKeyId=A&Signature=a%2Fb&X-Goog-Signature=g"
                + "&X-Amz-Signature=s&X-Amz-Credential=c&X-Amz-Security-Token=t&sig#sig=f",
            spans: [
                .init(
                    path: "/200?page=2&sig=REDACTED&api_key=***&AWSAccessKeyId=REDACTED&Signature=REDACTED"
                        + "&X-Goog-Signature=REDACTED&X-Amz-Signature=REDACTED&X-Amz-Credential=REDACTED"
                        + "&X-Amz-Security-Token=REDACTED&sig#sig=***",
                    attributes: success)
            ]),
        Scenario(
            testDescription: "template", path: "/200?a=1",
            spans: [
                .init(
                    name: "GET /{status}", attributes: success.merging(["url.template": "/{status}"]) { $1 })
            ]
        ) { $0.routes = ["/{status}"] },
    ]

    /// A server that responds as the path says.
    private static var service: FaultServer.Fault {
        let visits = Recorder<Void>()
        return FaultServer.Fault { connection in
            func send(_ status: Int, _ fields: String = "") throws {
                try connection.send("HTTP/1.1 \(status) Some\r\n\(fields)Content-Length: 2\r\n\r\n{}")
            }
            while true {
                let request = try connection.read()
                let path = request.head.split(separator: " ")[1].prefix { $0 != "?" }
                switch path {
                case "/hang": try connection.waitForEnd()
                case "/busy": try send(visits.note(()) == 1 ? 503 : 200)
                case "/moved": try send(302, "Location: /200\r\n")
                case "/members": try send(request.field("Authorization") == "1" ? 401 : 200)
                default: try send(Int(path.dropFirst()) ?? 0)
                }
            }
        }
    }

    @Test(arguments: scenarios, Wire.allCases) func `attributes`(scenario: Scenario, wire: Wire) async throws {
        try await expectAttributes(of: scenario, wire)
    }

    #if AsyncHTTPClient || !canImport(FoundationNetworking)
    @Test(.enabled(if: TCPSocket.hasIPv6, "This machine has no IPv6."), arguments: Wire.ofIPv6)
    func `attributes, with an IPv6 address and a port`(wire: Wire) async throws {
        let scenario = Scenario(testDescription: "IPv6 with a port", spans: [.init(attributes: Self.success)])
        try await expectAttributes(of: scenario, wire, isIPv6: true)
    }
    #endif

    #if canImport(FoundationNetworking)
    @Test func `a request to an IPv6 address, which URLSession on Linux refuses, has no span`() async throws {
        let request = URLRequest(url: try #require(URL(string: "http://[::1]:8080/200")))
        try await InMemoryTelemetry.observing { telemetry in
            let error = await expectError(.invalidURL) {
                try await URLSession.shared.response(for: request, config: .silent) {
                    ($0.telemetry, $0.transport) = (.openTelemetry, .urlSession)
                }
            }
            #expect(error.says(.invalidURL, "IPv6"))
            #expect(telemetry.spans.isEmpty && telemetry.durations.isEmpty)
        }
    }
    #endif

    private func expectAttributes(of scenario: Scenario, _ wire: Wire, isIPv6: Bool = false) async throws {
        try await FaultServer.serving(Self.service, isIPv6: isIPv6) { server in
            let (host, address) = (scenario.stub?.host ?? server.host, isIPv6 ? "::1" : "127.0.0.1")
            var request = URLRequest(url: URL(string: host + scenario.path)!, timeoutInterval: scenario.timeout)
            request.httpMethod = scenario.method
            let config = URLSession.Config.silent.with {
                ($0.telemetry, $0.transport) = (.openTelemetry, wire.transport)
                if scenario.stub != nil { $0.transport = Transport { _ in .init() } }
                scenario.configure(&$0)
            }
            try await InMemoryTelemetry.observing { telemetry in
                let call = Task { [request] in try? await server.response(for: request, config: config) }
                if scenario.isCancelled {
                    try await waitUntil { server.requests.count == 1 }
                    call.cancel()
                }
                _ = await call.value

                let expected = scenario.spans.map { span in
                    var attributes = [
                        "http.request.method": scenario.method, "server.address": address,
                        "server.port": "\(server.port)", "url.full": host + (span.path ?? scenario.path),
                        "url.scheme": String(host.prefix { $0 != ":" }),
                    ].merging(span.attributes) { $1 }
                    if let stub = scenario.stub {
                        (attributes["server.address"], attributes["server.port"]) = (stub.address, stub.port)
                    } else if wire != .urlSession, attributes["http.response.status_code"] != nil {
                        attributes["network.protocol.version"] = "1.1"
                    }
                    return attributes
                }
                let spans = telemetry.spans
                #expect(spans.map(\.operationName) == scenario.spans.map(\.name))
                #expect(spans.allSatisfy { $0.kind == .client })
                #expect(spans.map(\.texts) == expected)
                #expect(spans.map { $0.status?.code } == expected.map { $0["error.type"].map { _ in .error } })
                // What the status says needs no words.
                #expect(spans.map { $0.status?.message == nil } == expected.map { $0["error.type"] != "timeout" })
                let own = ["url.full", "http.request.method_original", "http.request.resend_count"]
                let dimensions = expected.map { $0.filter { !own.contains($0.key) } }
                #expect(
                    telemetry.durations.mapValues(\.count) == dimensions.reduce(into: [:]) { $0[$1, default: 0] += 1 })
                #expect(telemetry.durations.values.joined().allSatisfy { $0 > 0 })
            }
        }
    }
}

#if AsyncHTTPClient
extension TelemetryConventionsTests {
    @Test func `the version of HTTP is the one of the connection`() async throws {
        try await TLSServer.trusted { server, config in
            try await InMemoryTelemetry.observing { telemetry in
                try await server.get(config: config) { $0.telemetry = .openTelemetry }
                #expect(telemetry.spans.map { $0.texts["network.protocol.version"] } == ["2"])
                #expect(telemetry.durations.keys.map { $0["network.protocol.version"] } == ["2"])
            }
        }
    }
}
#endif

#endif
