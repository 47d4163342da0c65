import Logging

#if canImport(os)
import os
#endif

extension Logging.Logger {
    /// The default logger, with the label `networking`.
    ///
    /// On Apple platforms it writes to the unified log, elsewhere to the handler of `LoggingSystem`. Its level is info,
    /// so only failures are logged.
    static var networking: Logging.Logger {
        #if canImport(os)
        Logging.Logger(label: "networking") { UnifiedLogHandler(label: $0) }
        #else
        Logging.Logger(label: "networking")
        #endif
    }
}

#if canImport(os)
/// Writes metadata and message, which are masked already, to the unified log.
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
        for piece in event.text(metadata).pieces(of: 1000) {
            log.log(level: event.level >= .error ? .error : .debug, "\(String(piece), privacy: .public)")
        }
    }
}
#endif

extension LogEvent {
    /// The metadata of a logger and of the event, sorted, then the message.
    func text(_ own: Logging.Logger.Metadata) -> String {
        let all = own.merging(metadata ?? [:]) { $1 }.map { "\($0.key)=\($0.value)" }
        return (all.sorted() + ["\(message)"]).joined(separator: " ")
    }
}

extension String {
    /// Splits the text, between scalars, into pieces of a maximal size in bytes.
    ///
    /// The unified log keeps 1,024 bytes of a message.
    func pieces(of size: Int) -> [Substring] {
        var (pieces, rest) = ([Substring](), self[...])
        while !rest.isEmpty {
            // The end of a slice is rounded down to a scalar.
            let end = rest.utf8.index(rest.startIndex, offsetBy: size, limitedBy: rest.endIndex)
            pieces.append(rest[..<(end ?? rest.endIndex)])
            rest = rest[pieces[pieces.count - 1].endIndex...]
        }
        return pieces
    }
}
