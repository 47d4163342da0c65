@_spi(Reflection) import Swift
import Testing
import URLConfigTesting

@testable import URLConfig

/// Tables that say who has set what of a call.
@Suite(.inTime, .stubs { $0.get("/*", .status(.serviceUnavailable)).optional() }) struct URLSessionExplainTests {
    private typealias Config = URLSession.Config

    private struct Signer: Authenticator {
        let token = "s3cret"
        func authorize(_ request: inout URLRequest) async throws {}
    }

    @Test(arguments: [
        (false, false, "host https://api.test", 2), (true, false, "config:", 3),
        (true, true, "closure, instead of config:", 4),
    ])
    func `the table names the stage whose retries the call makes`(
        hasPreset: Bool, hasClosure: Bool, source: String, attempts: Int
    ) async throws {
        let hosts = ["https://API.test": Config.silent.with { $0.retry = .init(attempts: 2) }, "api.test": .silent]
        let preset = hasPreset ? Config.silent.with { $0.retry = .init(attempts: 3) } : nil
        let change: (inout Config) -> Void = { if hasClosure { $0.retry.attempts = 4 } }
        try await Config.withHosts(hosts) {
            let table = Config.explain(for: stubs.request(), config: preset, change)
            let response = try await stubs.session.response(for: stubs.request(), config: preset, change)
            #expect(response.attempts.count == attempts)
            #expect(table.row("retry") == "\(attempts) attempts, delays up to 20.0 s \(source)", "\(table)")
        }
    }

    @Test func `no retries are no delays`() {
        let table = Config.explain(for: stubs.request(), config: .silent.with { $0.retry = .standard }) {
            $0.retry = nil
        }
        #expect(table.row("retry") == "none closure, instead of config:", "\(table)")
    }

    static let changes: [(String, String?, @Sendable (inout URLSession.Config) -> Void)] = [
        ("authorize", "false closure", { $0.authorize = false }), ("authorize", nil, { $0.authorize = true }),
        ("authenticator", "none closure, instead of config:", { $0.authenticator = nil }),
        ("authenticator", "Signer config: or later", { _ in }),
        ("isUnauthorized", "set closure", { $0.isUnauthorized = { _ in true } }),
        ("onUnauthorized", "set config: or later", { $0.onUnauthorized = { _ in } }),
        ("validators", "2 closure, instead of config:", { $0.validators.append(.success) }),
        ("validators", "none closure, instead of config:", { $0.validators = [] }),
        ("decoder", "JSONDecoder closure", { $0.decoder = JSONDecoder() }),
        ("deadline", "5.0 s closure", { $0.deadline = .seconds(5) }),
        ("redirects", "none closure", { $0.redirects = .none }),
        ("redirects", "set closure", { $0.redirects = .init { _, next in next } }),
        (
            "retry", "3 attempts, delays up to 7.0 s closure",
            {
                $0.retry = .standard
                $0.retry.longestDelay = .seconds(7)
            }
        ),
        ("cache", "MemoryStore test, instead of closure", { $0.cache = .memory(megabytes: 1) }),
        (
            "cache.requester", "set closure",
            {
                $0.cache = .memory(megabytes: 1)
                $0.cache?.requester = "s3cret"
            }
        ),
        (
            "cache.staleIfError", "30.0 s closure",
            {
                $0.cache = .memory(megabytes: 1)
                $0.cache?.staleIfError = .seconds(30)
            }
        ),
        ("coalesces", "true closure", { $0.coalesces = true }),
        ("responseLimit", "9 closure", { $0.responseLimit = 9 }),
        ("fallback", "set closure", { $0.fallback = { error, _ in throw error } }),
        ("logBody", "0 closure", { $0.logBody = false }),
        ("redaction", "set closure", { $0.redaction = .standard.adding("a") }),
        ("redaction", "none closure", { $0.redaction = .none }),
        ("taskDelegate", "Delegate closure", { $0.taskDelegate = Delegate() }),
        ("progress", "set closure", { $0.progress = { _ in } }), ("events", "set closure", { $0.events = { _ in } }),
        ("route", "/users/{id} closure", { $0.route = "/users/{id}" }), ("routes", "1 closure", { $0.routes = ["/a"] }),
        ("transport", "set test, instead of closure", { $0.transport = .init { _ in .init() } }),
        ("clock", "TestClock closure", { $0.clock = TestClock() }),
    ]

    /// The member of the trait.
    static let changesOfTelemetry: [(String, String?, @Sendable (inout URLSession.Config) -> Void)] = {
        #if Telemetry
        return [("telemetry", "Telemetry closure", { $0.telemetry = .openTelemetry })]
        #else
        return []
        #endif
    }()

    private final class Delegate: NSObject, URLSessionTaskDelegate {}

    @Test(arguments: changes + changesOfTelemetry)
    func `each member has its value and its source`(
        name: String, expected: String?, change: @Sendable (inout URLSession.Config) -> Void
    ) {
        let preset = Config.silent.with {
            $0.authenticator = Signer()
            $0.onUnauthorized = { _ in }
            $0.validators = [.success]
        }
        let table = Config.explain(for: stubs.request(), config: preset, change)
        #expect(table.row(name) == expected, "\(table)")
        #expect(!table.contains("s3cret"))
    }

    #if os(Linux) || os(macOS)
    @Test func `what a preset has from the default is from the default`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            let early = Config()
            DataResponse.Config.defaultDecoder = JSONDecoder()
            Config.default = Config().with {
                $0.responseLimit = 7
                $0.logger = nil
                $0.fallback = { error, _ in throw error }
            }
            Config[host: "api.test"] = Config().with { $0.deadline = .seconds(10) }
            let request = URLRequest.with(.init(host: "https://api.test/a?access_token=s3cret"))
            let table = Config.explain(for: request) { $0.responseLimit = nil }
            #expect(
                table == """
                    GET https://api.test/a?access_token=***

                    NAME           VALUE        SOURCE
                    decoder        JSONDecoder  default
                    deadline       10.0 s       host api.test
                    responseLimit  none         closure, instead of default
                    fallback       set          default or later
                    logger         none         default
                    """)
            #expect(
                Config.explain(for: request, config: early).row("responseLimit") == "none config:, instead of default")
            #expect(Config.explain(for: URLRequest(url: URL(filePath: "/etc"))).contains(": the URL is not http"))
        }
    }
    #endif

    /// The name of each stored property, with the name of the member that shows it.
    @Test func `no member is forgotten`() {
        let others = [
            "hasOwnIsUnauthorized": "isUnauthorized", "customDecoder": "decoder", "customLogger": "logger",
            "customLogBody": "logBody", "customRedaction": "redaction", "eventSink": "events", "observer": "telemetry",
            "templates": "routes",
        ]
        let members = Set(Config().settings.map(\.name))
        let forgotten = storedProperties(of: Config.self).filter { !members.contains(others[$0] ?? $0) }
        #expect(forgotten == [])
    }
}

/// The names of the properties of a type, whatever its mirror shows.
func storedProperties(of type: Any.Type) -> [String] {
    var names: [String] = []
    _forEachField(of: type) { name, _, _, _ in
        names.append(String(cString: name))
        return true
    }
    return names
}

extension String {
    /// The row of a member in a table; `nil` if it is left out.
    func row(_ name: String) -> String? {
        split(separator: "\n").first { $0.hasPrefix(name + " ") }
            .map { $0.dropFirst(name.count).split(separator: " ").joined(separator: " ") }
    }
}
