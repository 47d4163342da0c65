import InMemoryLogging
import Logging

extension Logger {
    /// A logger that keeps what is logged, and where it keeps it.
    static func recording(level: Logger.Level = .debug) -> (Logger, InMemoryLogHandler) {
        let handler = InMemoryLogHandler()
        var logger = Logger(label: "test") { _ in handler }
        logger.logLevel = level
        return (logger, handler)
    }
}

extension InMemoryLogHandler {
    var text: String { entries.map { "\($0.level): \($0.message)" }.joined(separator: "\n") }
}
