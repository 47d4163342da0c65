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

    @Test func `traffic is logged with the call site and without secrets`() async throws {
        let log = try await log()
        let (sent, received) = (log.entries[0], log.entries[1])
        #expect(log.entries.count == 2)
        let sentLines = sent.message.description.split(separator: "\n")
        #expect(sentLines.first?.hasPrefix("🛫 POST http://127.0.0.1:") == true)
        #expect(sentLines.first?.hasSuffix("/users/7?access_token=***") == true)
        #expect(sentLines.last == "📄 App/Users.swift:42")
        #expect(sent.message.description.contains(#""title" : "some-title""#))
        #expect(received.message.description.hasPrefix("🛬 200 POST http://127.0.0.1:"))
        #expect(received.message.description.contains(/\ (\d+ ms|\d+\.\d+ s) 27 B\n/))
        #expect(log.entries.allSatisfy { $0.level == .debug })
        #expect(!log.text.contains("t0psecret"))
        #expect(!log.entries.contains { "\($0.metadata)".contains("t0psecret") })
    }

    @Test func `metadata carries the same as fields`() async throws {
        let metadata = try await log().entries[1].metadata
        #expect(metadata["method"] == "POST")
        #expect(metadata["status"] == "200")
        #expect(metadata["bytes"] == "27")
        #expect(metadata["source"] == "App/Users.swift:42")
        #expect(metadata["url"]?.description.hasSuffix("/users/7?access_token=***") == true)
        #expect(metadata["duration"] != nil)
    }

    @Test func `nothing is written below the logger's level`() async throws {
        #expect(try await log(level: .info).entries.isEmpty)
    }

    @Test func `a failure is an error, with the call site`() async throws {
        let log = try await log(level: .info, serving: .status(.notFound)) { $0.validators = [.success] }
        #expect(log.entries.map(\.level) == [.error])
        #expect(log.text.contains("💥 404 POST"))
        #expect(log.entries.first?.metadata["status"] == "404")
        #expect(log.text.contains("📄 App/Users.swift:42"))
        #expect(!log.text.contains("t0psecret"))
    }

    @Test func `what a call hides is hidden in what a decoder of the app's own says`() async throws {
        enum Kind: String, Decodable { case a }
        let log = try await log(serving: .json(#"{"ssn":"078-05-1120"}"#)) {
            $0.redaction = .standard.adding("ssn")
            $0.validators = [.init { _ = try JSONDecoder().decode([String: Kind].self, from: $0.data) }]
        }
        #expect(log.text.contains("ssn: its value does not fit"))
        #expect(!log.text.contains("078-05-1120"))
        #expect(!log.entries.contains { "\($0.metadata)".contains("078-05-1120") })
    }

    @Test func `a request that cannot be sent is logged with the reason, once`() async throws {
        let (logger, handler) = Logger.recording()
        let request = URLRequest.with(.init(host: "ftp://example.com")) { _ in }
        await #expect(throws: RequestError.self) {
            try await URLSession.shared.response(for: request) { $0.logger = logger }
        }
        #expect(handler.entries.map(\.level) == [.error])
        let lines = handler.text.split(separator: "\n")
        #expect(lines.first?.hasPrefix("error: 💥 GET <cannot be sent>") == true)
        #expect(lines.dropFirst().first == "host 'ftp://example.com' has a scheme other than http and https")
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
