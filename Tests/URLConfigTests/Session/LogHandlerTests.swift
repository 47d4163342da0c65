import Logging
import Testing

@testable import URLConfig

/// The log as it is shown in a terminal.
@Suite(.timeLimit(.minutes(10))) struct LogHandlerTests {
    private final class Lines: TextOutputStream, Sendable {
        let text = Locked("")
        func write(_ string: String) { text.withLock { $0 += string } }
    }

    private let url = "https://api.example.com/users/7?access_token=***"

    /// The lines that swift-log's default handler prints, without their times.
    private func printed(
        _ level: Logger.Level, _ status: HTTPResponse.Status, _ configure: (inout URLSession.Config) -> Void = { _ in }
    ) async -> [String] {
        let lines = Lines()
        var logger = Logger(label: "networking") { StreamLogHandler(label: $0, stream: lines, metadataProvider: nil) }
        logger.logLevel = level
        let request = URLRequest.with(.init(host: "https://api.example.com")) {
            $0.method = .post
            $0.path = "/users/7"
            $0.query["access_token"] = "t0psecret"
            $0.headers[.authorization] = "Bearer t0psecret"
            $0.body = ["password": "t0psecret", "title": "a"]
        }
        var config = URLSession.Config().with(configure)
        config.logger = logger
        config.transport = Transport { _ in
            .init(status: status, headerFields: [.contentType: "text/plain"], body: .init(Data("got t0psecret".utf8)))
        }
        _ = try? await URLSession.shared.response(for: request, config: config, fileID: "App/Users.swift", line: 42)
        return lines.text.withLock { $0 }.split(separator: "\n", omittingEmptySubsequences: false).map {
            String($0).replacing(/^\d{4}-\S+\s/, with: "").replacing(/duration=\d+\.\d+/, with: "duration=0.0")
        }
    }

    @Test func `a terminal shows each text once`() async {
        let source = "method=POST source=App/Users.swift:42"
        #expect(
            await printed(.debug, .ok) == [
                "debug networking: \(source) url=\(url) [App] 🛫 request",
                "{", "  \"password\" : \"***\",", "  \"title\" : \"a\"", "}",
                "debug networking: bytes=13 duration=0.0 \(source) status=200 url=\(url) [App] 🛬 response",
                "got ***", "",
            ])
    }

    @Test func `at trace, a terminal shows the header fields`() async {
        let source = "method=POST source=App/Users.swift:42"
        #expect(
            await printed(.trace, .ok) { $0.logBody = 0 } == [
                "debug networking: \(source) url=\(url) [App] 🛫 request",
                "Authorization: ***", "Content-Type: application/json",
                "debug networking: bytes=13 duration=0.0 \(source) status=200 url=\(url) [App] 🛬 response",
                "Content-Type: text/plain", "",
            ])
    }

    @Test func `a failure is one line`() async {
        let lines = await printed(.info, .notFound) { $0.validators = [.success] }
        let start = "error networking: duration=0.0 error="
        let end = " method=POST source=App/Users.swift:42 status=404 url=\(url) [App] 💥 failed"
        #expect(lines.count == 2 && lines.last == "")
        #expect(lines[0].hasPrefix(start) && lines[0].hasSuffix(end), "\(lines)")
        #expect(lines[0].contains("got ***") && lines[0].components(separatedBy: "404").count <= 3, "\(lines)")
    }

    #if os(Linux) || os(macOS)
    // In a separate process, because a logging system can be set up only once.
    @Test func `a log handler may make a configuration`() async {
        await #expect(processExitsWith: .success) {
            LoggingSystem.bootstrap { label in
                var config = URLSession.Config()
                config.logger = nil
                config.retry = .standard
                return StreamLogHandler.standardOutput(label: "\(label) \(config.validators.count)")
            }
            #expect(URLSession.Config().logger != nil)
            URLSession.Config.defaultLogger?.logLevel = .critical
            #expect(URLSession.Config().logger?.logLevel == .critical)
            URLSession.Config.defaultLogger = nil
            #expect(URLSession.Config().logger == nil)
        }
    }
    #endif
}
