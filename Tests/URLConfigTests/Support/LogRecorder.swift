import Foundation
import Logging

/// A log handler that keeps what is logged.
struct LogRecorder: LogHandler {
    /// What every copy of the handler writes to.
    final class Storage: @unchecked Sendable {
        private let lock = NSLock()
        private var stored: [LogEvent] = []

        var events: [LogEvent] { lock.withLock { stored } }
        var text: String { events.map { "\($0.level): \($0.message)" }.joined(separator: "\n") }

        func append(_ event: LogEvent) {
            lock.withLock { stored.append(event) }
        }
    }

    let storage: Storage
    var logLevel = Logger.Level.debug
    var metadata = Logger.Metadata()

    static func logger(level: Logger.Level = .debug) -> (Logger, Storage) {
        let storage = Storage()
        var logger = Logger(label: "test") { _ in LogRecorder(storage: storage) }
        logger.logLevel = level
        return (logger, storage)
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        storage.append(event)
    }
}
