// Logging is not imported: the test is that this file compiles under MemberImportVisibility.
import Testing
import URLConfig

@Suite(.inTime) struct LoggingImportTests {
    #if os(Linux) || os(macOS)
    @Test func `a call site needs no import of swift-log`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            URLSession.Config.defaultLogger?.logLevel = .debug
            #expect(URLSession.Config.defaultLogger?.logLevel == .debug)
            #expect(URLSession.Config().with { $0.logger = nil }.logger == nil)
            URLSession.Config.defaultLogger = nil
            #expect(URLSession.Config.defaultLogger == nil)
        }
    }
    #endif
}
