import Logging

#if canImport(os)
import os
#endif

extension Logging.Logger {
    /// The logger of every call that names none, with the label `networking`.
    ///
    /// On Apple platforms it writes to the unified log; elsewhere to what `LoggingSystem` was bootstrapped with. Traffic is
    /// logged at the level debug, failures at error: with swift-log's usual level, info, only failures are seen.
    public static var networking: Logging.Logger {
        #if canImport(os)
        Logging.Logger(label: label) { UnifiedLogHandler(label: $0) }
        #else
        Logging.Logger(label: label)
        #endif
    }

    private static var label: String { "networking" }
}

#if canImport(os)
/// Hands what is logged to the unified log, which decides by level what is kept.
///
/// Messages are redacted already.
private struct UnifiedLogHandler: LogHandler {
    private let log: os.Logger
    var logLevel = Logging.Logger.Level.info
    var metadata = Logging.Logger.Metadata()

    init(label: String) {
        log = os.Logger(subsystem: Bundle.main.bundleIdentifier ?? label, category: label)
    }

    subscript(metadataKey key: String) -> Logging.Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        log.log(level: event.level >= .error ? .error : .debug, "\(event.message.description, privacy: .public)")
    }
}
#endif
