import FlyingFox
import InMemoryLogging
import Logging
import Testing
import URLConfig

@Suite struct RequestLogTests {
    private func log(
        level: Logger.Level = .debug, serving response: Loopback.Response = .json(#"{"token":"t0psecret","a":1}"#),
        _ configure: (inout URLSession.Config) -> Void = { _ in }
    ) async throws -> InMemoryLogHandler {
        let (logger, handler) = Logger.recording(level: level)
        try await Loopback.serving { _ in
            response
        } _: { server in
            let request = URLRequest.with(server.config) {
                $0.method = .post
                $0.path = "/users/7"
                $0.query["access_token"] = "t0psecret"
                $0.authorization = .bearer("t0psecret")
                $0.body["password"] = "t0psecret"
                $0.body["title"] = "some-title"
            }
            _ = try? await server.session.response(for: request, fileID: "App/Users.swift", line: 42) {
                $0.logger = logger
                configure(&$0)
            }
        }
        return handler
    }

    @Test func `traffic is logged without secrets, and the message does not repeat the metadata`() async throws {
        let log = try await log()
        #expect(
            log.entries.map(\.message) == [
                "🛫 request\n{\n  \"password\" : \"***\",\n  \"title\" : \"some-title\"\n}",
                "🛬 response\n{\n  \"token\" : \"***\",\n  \"a\" : 1\n}",
            ])
        #expect(log.entries.allSatisfy { $0.level == .debug })
        #expect(!log.entries.contains { "\($0.metadata)".contains("t0psecret") })
        let metadata = log.entries[1].metadata
        #expect(metadata["method"] == "POST")
        #expect(metadata["status"] == "200")
        #expect(metadata["bytes"] == "27")
        #expect(metadata["source"] == "App/Users.swift:42")
        #expect(metadata["url"]?.description.hasSuffix("/users/7?access_token=***") == true)
        #expect(Double(metadata["duration"]?.description ?? "") != nil)
        #expect(Set(metadata.keys).subtracting(log.entries[0].metadata.keys) == ["status", "bytes", "duration"])
    }

    @Test func `header fields are logged at trace, masked`() async throws {
        var served = Loopback.Response.status(.ok, "said")
        served.headers[HTTPHeader("X-Kind")] = "a"
        served.headers[.setCookie] = "sid=t0psecret"
        let log = try await log(level: .trace, serving: served)
        let (sent, received) = (log.entries[0].message.description, log.entries[1].message.description)
        #expect(sent.hasPrefix("🛫 request\n") && received.hasPrefix("🛬 response\n"))
        #expect(sent.contains("\nAuthorization: ***\nContent-Type: application/json\n\n{\n"))
        #expect(received.contains("\nX-Kind: a\n") && received.contains("\nSet-Cookie: ***\n"))
        #expect(received.hasSuffix("\n\nsaid"))
        #expect(log.entries.allSatisfy { $0.level == .debug } && !log.text.contains("t0psecret"))
    }

    @Test func `another attempt is logged with its reason, status and duration`() async throws {
        let log = try await log(serving: .redirect(to: "/users/8?token=t0psecret"))
        let again = try #require(log.entries.first { $0.message.description.hasPrefix("🔁") })
        #expect(again.message.description.hasPrefix("🔁 to http://127.0.0.1:"))
        #expect(again.message.description.hasSuffix("/users/8?token=***"))
        #expect(again.metadata["status"]?.description.hasPrefix("30") == true && again.metadata["duration"] != nil)
    }

    @Test func `nothing is written below the logger's level`() async throws {
        #expect(try await log(level: .info).entries.isEmpty)
    }

    @Test func `a failure is an error, with the call site`() async throws {
        let log = try await log(level: .info, serving: .status(.notFound)) { $0.validators = [.success] }
        #expect(log.entries.map(\.level) == [.error])
        let entry = try #require(log.entries.first)
        #expect(entry.message == "💥 failed")
        #expect(entry.metadata["status"] == "404" && entry.metadata["source"] == "App/Users.swift:42")
        #expect(entry.metadata["error"]?.description.isEmpty == false)
        #expect(!"\(entry.metadata)".contains("t0psecret"))
    }

    @Test func `what a call hides is hidden in what a decoder of the app's own says`() async throws {
        enum Kind: String, Decodable { case a }
        let log = try await log(serving: .json(#"{"ssn":"078-05-1120"}"#)) {
            $0.redaction = .standard.adding("ssn")
            $0.validators = [.init { _ = try JSONDecoder().decode([String: Kind].self, from: $0.data) }]
        }
        let error = log.entries.last?.metadata["error"]?.description
        #expect(error?.contains("ssn: its value does not fit") == true)
        #expect(!log.entries.contains { "\($0.metadata)".contains("078-05-1120") })
    }

    @Test func `a request that cannot be sent is logged with the reason, once`() async throws {
        let (logger, handler) = Logger.recording()
        let request = URLRequest.with(.init(host: "ftp://example.com")) { _ in }
        await #expect(throws: RequestError.self) {
            try await URLSession.shared.response(for: request) { $0.logger = logger }
        }
        #expect(handler.entries.map(\.level) == [.error])
        let metadata = handler.entries[0].metadata
        #expect(metadata["url"] == "<cannot be sent>")
        #expect(metadata["error"] == "host 'ftp://example.com' has a scheme other than http and https")
        #expect(request.cURL() == "# invalidURL: host 'ftp://example.com' has a scheme other than http and https")
    }

    @Test func `silence is one assignment`() async throws {
        #expect(try await log { $0.logger = nil }.entries.isEmpty)
    }

    @Test func `bodies are cut, left out and summarised`() async throws {
        let long = String(repeating: "x", count: 10_000)
        let cut = try await log(serving: .status(.ok, long)).entries[1].message.description
        #expect(cut.contains(String(repeating: "x", count: 4096) + "… (10000 bytes in all)"))
        let none = try await log(serving: .status(.ok, long)) { $0.logBody = 0 }.entries[1].message.description
        #expect(!none.contains("x"))
        let binary = Loopback.Response(
            statusCode: .ok, headers: HTTPHeaders([.contentType: "image/png"]), body: Data([0, 1, 2, 255]))
        #expect(try await log(serving: binary).entries[1].message.description.contains("<4 bytes image/png>"))
    }

    @Test func `a server cannot forge a terminal's output`() async throws {
        let text = try await log(serving: .status(.ok, "\u{1B}[2Jgone\u{7}\u{202E}")).entries[1].message.description
        #expect(text.contains(#"\u{1b}[2Jgone\u{7}\u{202e}"#))
        #expect(!text.contains("\u{1B}"))
    }

    @Test func `redaction can be widened and switched off for a call`() async throws {
        #expect(try await log { $0.redaction = .standard.adding("title") }.text.contains("some-title") == false)
        #expect(try await log { $0.redaction = .none }.text.contains("t0psecret"))
    }
}
