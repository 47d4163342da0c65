#if os(Linux) || os(macOS)
import Logging
import Testing
import URLConfig

/// Log handlers that make a configuration themselves, each in a process of its own: a logging system is set up once.
@Suite(.timeLimit(.minutes(10))) struct LogHandlerTests {
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
}
#endif
