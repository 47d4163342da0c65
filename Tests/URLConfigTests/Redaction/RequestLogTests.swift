import InMemoryLogging
import Logging
import Testing
import URLConfigTesting

@testable import URLConfig

@Suite(.inTime) struct RequestLogTests {
    private static let json = HTTPStubs.Response.json(#"{"token":"t0psecret","a":1}"#)
    private static let text = HTTPStubs.Response.text("got t0psecret")

    /// Sends a request with secrets, to which there is this response.
    private func send(
        _ logger: Logger, _ response: HTTPStubs.Response, _ configure: (inout URLSession.Config) -> Void
    ) async {
        let request = URLRequest.with(.init(host: "https://api.example.com")) {
            $0.method = .post
            $0.path = "/users/7"
            $0.query["access_token"] = "t0psecret"
            $0.authorization = .bearer("t0psecret")
            $0.body = ["password": "t0psecret", "title": "a"]
        }
        _ = try? await HTTPStubs.with {
            $0.post("/users/*", response)
        } operation: {
            try await URLSession.shared.response(for: request, fileID: "App/Users.swift", line: 42) {
                $0.logger = logger
                configure(&$0)
            }
        }
    }

    private func log(
        _ level: Logger.Level = .debug, _ response: HTTPStubs.Response = json,
        _ configure: (inout URLSession.Config) -> Void = { _ in }
    ) async -> InMemoryLogHandler {
        let (logger, handler) = Logger.recording(level: level)
        await send(logger, response, configure)
        return handler
    }

    @Test func `traffic is logged without secrets, and the message does not repeat the metadata`() async {
        let log = await log()
        #expect(
            log.entries.map(\.message) == [
                "🛫 request\n{\n  \"password\" : \"***\",\n  \"title\" : \"a\"\n}",
                "🛬 response\n{\n  \"token\" : \"***\",\n  \"a\" : 1\n}",
            ])
        #expect(log.entries.allSatisfy { $0.level == .debug })
        #expect(!log.text.contains("t0psecret"))
        let metadata = log.entries[1].metadata
        #expect(metadata["method"] == "POST")
        #expect(metadata["status"] == "200")
        #expect(metadata["bytes"] == "27")
        #expect(metadata["source"] == "App/Users.swift:42")
        #expect(metadata["url"]?.description.hasSuffix("/users/7?access_token=***") == true)
        #expect(Double(metadata["duration"]?.description ?? "") != nil)
        #expect(Set(metadata.keys).subtracting(log.entries[0].metadata.keys) == ["status", "bytes", "duration"])
    }

    @Test func `another attempt is logged with its reason, status and duration`() async throws {
        let log = await log(.debug, .redirect(to: "/users/8?token=t0psecret", status: .temporaryRedirect))
        let again = try #require(log.entries.first { $0.message.description.hasPrefix("🔁") })
        #expect(again.message == "🔁 to https://api.example.com/users/8?token=***")
        #expect(again.metadata["status"] == "307" && again.metadata["duration"] != nil)
    }

    @Test func `nothing is written below the logger's level, or without a logger`() async {
        #expect(await log(.info).entries.isEmpty)
        #expect(await log { $0.logger = nil }.entries.isEmpty)
    }

    @Test func `the error of an app's own decoder hides the secrets of the call`() async {
        enum Kind: String, Decodable { case a }
        let log = await log(.debug, .text(#"{"ssn":"078-05-1120"}"#)) {
            $0.redaction = .standard.adding("ssn")
            $0.validators = [.init { _ = try JSONDecoder().decode([String: Kind].self, from: $0.data) }]
        }
        let error = log.entries.last?.metadata["error"]?.description
        #expect(error?.contains("ssn: its value does not fit") == true)
        #expect(!log.entries.contains { "\($0.metadata)".contains("078-05-1120") })
    }

    @Test func `a request that cannot be sent is logged with the reason, once`() async {
        let (logger, handler) = Logger.recording()
        let request = URLRequest.with(.init(host: "ftp://example.com")) { _ in }
        await #expect(throws: RequestError.self) {
            try await URLSession.shared.response(for: request) { $0.logger = logger }
        }
        let reason = "host 'ftp://example.com' has a scheme other than http and https"
        #expect(handler.entries.map(\.level) == [.error])
        #expect(handler.entries[0].metadata["url"] == "<cannot be sent>")
        #expect(handler.entries[0].metadata["error"]?.description == reason)
        #expect(request.cURL() == "# invalidURL: \(reason)")
    }

    @Test func `bodies are cut, left out and summarized, and forge no terminal's output`() async {
        func logged(
            _ response: HTTPStubs.Response, _ configure: (inout URLSession.Config) -> Void = { _ in }
        ) async -> String {
            await log(.debug, response, configure).entries[1].message.description
        }
        let long = HTTPStubs.Response.text(String(repeating: "x", count: 10_000))
        #expect(await logged(long).contains(String(repeating: "x", count: 4096) + "… (10000 bytes in all)"))
        #expect(await !logged(long) { $0.logBody = 0 }.contains("x"))
        #expect(await logged(.data(Data("1234".utf8), contentType: "image/png")).contains("<4 bytes image/png>"))
        let hostile = await logged(.text("\u{1B}[2Jgone\u{7}\u{202E}"))
        #expect(hostile.contains(#"\u{1b}[2Jgone\u{7}\u{202e}"#) && !hostile.contains("\u{1B}"))
    }

    @Test func `redaction can be extended and switched off for a call`() async {
        #expect(await !log { $0.redaction = .standard.adding("title") }.text.contains("\"title\" : \"a\""))
        #expect(await log { $0.redaction = .none }.text.contains("t0psecret"))
    }

    private struct OwnError: Error, Decodable { var message: String }

    private struct OwnWords: LocalizedError, Decodable {
        var words: String
        var errorDescription: String? { words }
    }

    // The log as it is shown in a terminal.

    private final class Lines: TextOutputStream, Sendable {
        let text = Locked("")
        func write(_ string: String) { text.withLock { $0 += string } }
    }

    private let url = "https://api.example.com/users/7?access_token=***"
    private let source = "method=POST source=App/Users.swift:42"

    /// The lines that swift-log's default handler prints, without their times.
    private func printed(
        _ level: Logger.Level, _ response: HTTPStubs.Response, _ configure: (inout URLSession.Config) -> Void = { _ in }
    ) async -> [String] {
        let lines = Lines()
        var logger = Logger(label: "networking") { StreamLogHandler(label: $0, stream: lines, metadataProvider: nil) }
        logger.logLevel = level
        await send(logger, response, configure)
        return lines.text.withLock { $0 }.split(separator: "\n", omittingEmptySubsequences: false).map {
            String($0).replacing(/^\d{4}-\S+\s/, with: "").replacing(/duration=\d+\.\d+/, with: "duration=0.0")
        }
    }

    @Test func `a terminal shows each text once`() async {
        #expect(
            await printed(.debug, Self.text) == [
                "debug networking: \(source) url=\(url) [App] 🛫 request",
                "{", "  \"password\" : \"***\",", "  \"title\" : \"a\"", "}",
                "debug networking: bytes=13 duration=0.0 \(source) status=200 url=\(url) [App] 🛬 response",
                "got ***", "",
            ])
    }

    @Test func `at trace, a terminal shows the header fields, without secrets`() async {
        #expect(
            await printed(.trace, .text("said").cookie("sid=t0psecret")) == [
                "debug networking: \(source) url=\(url) [App] 🛫 request",
                "Authorization: ***", "Content-Type: application/json", "",
                "{", "  \"password\" : \"***\",", "  \"title\" : \"a\"", "}",
                "debug networking: bytes=4 duration=0.0 \(source) status=200 url=\(url) [App] 🛬 response",
                "Content-Type: text/plain; charset=utf-8", "Set-Cookie: ***", "", "said", "",
            ])
    }

    private enum Kind: String, Decodable { case news }

    @Test func `a failure is one line`() async {
        let lines = await printed(.info, .text("got t0psecret", status: .notFound)) { $0.validators = [.success] }
        let end = " \(source) status=404 url=\(url) [App] 💥 failed"
        #expect(lines.count == 2 && lines.last == "")
        #expect(lines[0].hasPrefix("error networking: duration=0.0 error=") && lines[0].hasSuffix(end), "\(lines)")
        #expect(lines[0].contains("got ***") && lines[0].components(separatedBy: "404").count <= 3, "\(lines)")
        let silent = await printed(.info, .text("got milk", status: .notFound)) {
            ($0.validators, $0.logBody) = ([.success], false)
        }
        #expect(silent[0].contains("the status is not accepted") && !silent[0].contains("milk"), "\(silent)")
        // Errors that are decoded from the content.
        for (validator, kind) in [
            (ResponseValidator.orThrow(OwnError.self), "cannot read OwnError"), (.orThrow(Problem.self), "Problem"),
            (.orThrow(OwnWords.self), "OwnWords"),
        ] {
            let text = #"{"error":{"message":"got milk"},"title":"got milk","words":"got milk"}"#
            let lines = await printed(.info, .json(text, status: .notFound)) {
                ($0.validators, $0.logBody) = ([validator], false)
            }
            #expect(lines[0].contains(kind) && !lines[0].contains("milk"), "\(lines)")
        }
        // An error that quotes a value.
        let quoting = ResponseValidator { _ = try JSONDecoder().decode([Kind].self, from: $0.data) }
        let undecoded = await printed(.info, .json(#"["got milk"]"#)) {
            ($0.validators, $0.logBody) = ([quoting], false)
        }
        #expect(undecoded[0].contains("DecodingError") && !undecoded[0].contains("milk"), "\(undecoded)")
        // An error of the caller's does not know the status.
        let own = await printed(.info, .status(.forbidden)) {
            $0.validators = [ResponseValidator { _ in throw CocoaError(.coderInvalidValue) }]
        }
        #expect(own[0].contains(" status=403 "), "\(own)")
    }

    #if os(Linux) || os(macOS)
    // In a separate process, because a logging system can be set up only once.
    @Test func `a log handler may make a configuration`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            let log = InMemoryLogHandler()
            LoggingSystem.bootstrap { label in
                var config = URLSession.Config()
                config.logger = nil
                config.retry = .standard
                var handler = log
                handler.metadata["label"] = "\(label) \(config.validators.count)"
                return handler
            }
            #expect(URLSession.Config().logger != nil)
            // It is the app's, and a level stays what it is.
            #expect(URLSession.Config.defaultLogger?.handler is InMemoryLogHandler)
            URLSession.Config.defaultLogger?.warning("slow")
            #expect(log.entries.map(\.level) == [.warning])
            #expect(log.entries.map(\.message) == ["slow"])
            #expect(log.entries.first?.metadata["label"] == "networking 0")
            URLSession.Config.defaultLogger?.logLevel = .critical
            #expect(URLSession.Config().logger?.logLevel == .critical)
            URLSession.Config.defaultLogger = nil
            #expect(URLSession.Config().logger == nil)
        }
    }
    #endif
}
