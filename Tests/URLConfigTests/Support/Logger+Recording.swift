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
    /// A line for each entry: level, metadata and message.
    var text: String {
        entries.map { entry in
            let metadata = entry.metadata.map { "\($0.key)=\($0.value) " }.sorted().joined()
            return "\(entry.level): \(metadata)\(entry.message)"
        }.joined(separator: "\n")
    }
}
