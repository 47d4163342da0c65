import InMemoryLogging
import Logging
import Testing
import URLConfigTesting

@testable import URLConfig

/// Presets for hosts.
@Suite(.inTime, .stubs { $0.get("/*") { .text($0.headerFields[.init("X-Preset")!] ?? "none") }.optional() })
struct URLSessionHostsTests {
    private typealias Config = URLSession.Config

    /// A preset that adds its name to the requests.
    private static func named(_ name: String) -> Config {
        .silent.with { $0.authenticator = Named(name: name) }
    }

    private func name(_ url: String) -> String? {
        (Config.preset(for: URLRequest(url: URL(string: url)!)).authenticator as? Named)?.name
    }

    @Test func `each host has its own preset`() async throws {
        try await Config.withHosts(["one.test": Self.named("one"), "two.test:8080": Self.named("two")]) {
            for (host, name) in [("one.test", "one"), ("TWO.test", "two")] {
                let request = URLRequest(url: try #require(URL(string: "http://\(host):8080/")))
                #expect(try await URLSession.shared.response(for: request).text() == name)
                #expect(try await URLSession.shared.value(for: TypedRequest(request, reader: .text)) == name)
            }
        }
    }

    @Test func `an explicit preset wins, and changes apply on top`() async throws {
        try await Config.withHosts(["api.test": Self.named("host")]) {
            let (request, session) = (stubs.request(), stubs.session)
            let response = try await session.response(for: request, config: .explicit)
            #expect(try response.text() == "explicit")
            #expect(try await session.response(for: request, config: .silent).text() == "none")
            #expect(try await session.response(for: request) { $0.authorize = false }.text() == "none")
            let typed = TypedRequest(request, reader: .text)
            #expect(try await session.value(for: typed) == "host")
            #expect(try await session.value(for: typed, config: .explicit) == "explicit")
            #expect(try await session.value(for: typed) { $0.authorize = false } == "none")
        }
    }

    @Test(
        .stubs {
            $0.get("https://api.test/", .redirect(to: "https://other.test/"))
            $0.get("https://other.test/", .status(.serviceUnavailable))
        })
    func `a redirect to another host keeps the preset of the call`() async throws {
        let presets = ["api.test": Config.silent, "other.test": .silent.with { $0.validators = [.success] }]
        let response = try await Config.withHosts(presets) { try await stubs.session.response(for: stubs.request()) }
        #expect(response.status == .serviceUnavailable)
    }

    @Test(arguments: [
        ("http://localhost/", "localhost"), ("http://LOCALHOST:80/", "localhost"),
        ("http://localhost:8080/", "localhost:8080"), ("https://localhost:8080/", "https://localhost:8080"),
        ("https://localhost/", "https://localhost"), ("http://api.example.com/", "API.example.com"),
        ("https://api.example.com:443/v2", "api.example.com:443"), ("https://www.example.com/", nil),
        ("https://example.com/", nil), ("https://api.example.com.evil.com/", nil),
        ("mailto:ada@localhost", nil), ("/relative", nil),
    ])
    func `the most specific host wins, whatever its case`(url: String, name: String?) async {
        let hosts = [
            "localhost", "localhost:8080", "https://localhost", "https://localhost:8080", "API.example.com",
            "api.example.com:443",
        ]
        let presets = Dictionary(uniqueKeysWithValues: hosts.map { ($0, Self.named($0)) })
        await Config.withHosts(presets) { #expect(self.name(url) == name) }
        #expect(self.name(url) == nil)
    }

    @Test func `a scope is seen by the tasks within it, and by no other`() async throws {
        let url = "https://scope.example.com/"
        try await concurrently(50) { index in
            try await Config.withHosts(["scope.example.com": Self.named("\(index)")]) {
                try await concurrently(5) { _ in #expect(self.name(url) == "\(index)") }
                await Config.withHosts(["other.example.com": Self.named("other")]) {
                    #expect(self.name(url) == "\(index)")
                    #expect(self.name("https://other.example.com") == "other")
                }
                await Config.withHosts(["SCOPE.example.com": Self.named("inner")]) {
                    #expect(self.name(url) == "inner")
                }
                await Task.yield()
                #expect(self.name(url) == "\(index)")
            }
        }
        #expect(name(url) == nil)
    }

    @Test func `a scope may return what is not sendable, on the actor of its caller`() async {
        final class Plain {
            var count = 1
        }
        let plain = Plain()
        let other = await Config.withHosts([:]) { () -> Plain in
            plain.count += 1
            return plain
        }
        #expect(other.count == 2)
    }

    /// Hosts that no other test uses, because all tests share the registered presets.
    @Test func `none of a thousand registrations at once is lost`() async throws {
        try await concurrently(1000) { Config[host: "h\($0).register.example.com"] = Self.named("\($0)") }
        for index in 0..<1000 { #expect(name("https://h\(index).register.example.com") == "\(index)") }
        try await concurrently(1000) { if $0 != 7 { Config[host: "H\($0).register.example.com"] = nil } }
        for index in 0..<1000 where index != 7 { #expect(name("https://h\(index).register.example.com") == nil) }
        #expect(Config[host: "h7.register.example.com"] != nil)
        #expect(Config[host: "h8.register.example.com"] == nil)
        #expect(Config[host: "h7.register.example.com:443"] == nil)
        await Config.withHosts(["h7.register.example.com": Self.named("scope")]) {
            #expect(name("https://h7.register.example.com") == "scope")
            #expect((Config[host: "h7.register.example.com"]?.authenticator as? Named)?.name == "scope")
        }
        #expect(name("https://h7.register.example.com") == "7")
        Config[host: "h7.register.example.com"] = nil
    }

    @Test(.silentByDefault) func `a text that is not a host is ignored`() async {
        for host in ["*.example.com", "a.example.com/v2", "", "ada@a.example.com"] {
            Config[host: host] = Self.named("ignored")
            #expect(Config[host: host] == nil)
            await Config.withHosts([host: Self.named("ignored")]) { #expect(name("https://a.example.com") == nil) }
        }
    }

    #if os(Linux) || os(macOS)
    @Test func `a preset that is set after a more specific one says where it is not used`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            let (logger, log) = Logger.recording()
            Config.defaultLogger = logger
            for host in ["https://a.example:443", "a.example:80", "b.example", "a.example"] {
                Config[host: host] = .silent
                #expect(log.entries.count == (host == "a.example" ? 1 : 0))
            }
            #expect(log.text.contains("the preset of a.example is not used for a.example:80, https://a.example:443"))
            Config[host: "a.example"] = nil
            #expect(log.entries.count == 1)
        }
    }
    #endif

    @Test func `a preset that is set inside of a scope stays there`() async throws {
        let host = "scope-\(UUID().uuidString.lowercased()).example.com"
        try await URLSession.Config.withHosts([host: Self.named("inner")]) {
            URLSession.Config[host: host]?.deadline = .seconds(300)
            #expect(URLSession.Config[host: host]?.deadline == .seconds(300))
            let response = try await URLSession.shared.response(for: .with(.init(host: "https://\(host)")))
            #expect(try response.text() == "inner")
        }
        #expect(URLSession.Config[host: host] == nil)
    }

    @Test func `a preset that is removed inside of a scope is not used there`() async {
        let host = "removed-\(UUID().uuidString.lowercased()).example.com"
        Config[host: host] = Self.named("outer")
        defer { Config[host: host] = nil }
        await Config.withHosts([:]) {
            #expect(self.name("https://\(host)/") == "outer")
            Config[host: host] = nil
            #expect(Config[host: host] == nil)
            #expect(self.name("https://\(host)/") == nil)
            // In a scope within it, too.
            await Config.withHosts(["other.example.com": .silent]) { #expect(self.name("https://\(host)/") == nil) }
            Config[host: "https://\(host)"] = Self.named("inner")
            #expect(self.name("https://\(host)/") == "inner")
        }
        #expect(self.name("https://\(host)/") == "outer")
    }

    @Test func `an international name is found by its name in ASCII`() async {
        await Config.withHosts(["b\u{FC}cher.example": Self.named("books")]) {
            #expect(self.name("https://xn--bcher-kva.example/") == "books")
            #expect(self.name("https://b\u{FC}cher.example/") == "books")
        }
    }
}

extension URLSession.Config {
    fileprivate static let explicit = Self.silent.with { $0.authenticator = Named(name: "explicit") }
}

private struct Named: Authenticator {
    let name: String

    func authorize(_ request: inout URLRequest) async throws {
        request.setValue(name, forHTTPHeaderField: "X-Preset")
    }
}
