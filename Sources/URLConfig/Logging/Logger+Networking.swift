import Logging

#if canImport(os)
import os
#endif

extension Logging.Logger {
    /// The logger of every call that names none, with the label `networking`.
    ///
    /// On Apple platforms it writes to the unified log; elsewhere to what `LoggingSystem` was bootstrapped with.
    /// Traffic is logged at the level debug, failures at error: with swift-log's usual level, info, only failures are
    /// seen.
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

    /// What the event has as metadata stands in the message, too; that of the logger is the caller's.
    func log(event: LogEvent) {
        let own = metadata.map { "\($0.key)=\($0.value) " }.sorted().joined()
        for piece in "\(own)\(event.message)".pieces(of: 1000) {
            log.log(level: event.level >= .error ? .error : .debug, "\(String(piece), privacy: .public)")
        }
    }
}
#endif

extension String {
    /// The text in pieces of so many bytes at most, no scalar of which is cut: unified logging keeps 1,024 bytes of a
    /// message.
    func pieces(of size: Int) -> [Substring] {
        var pieces: [Substring] = []
        var rest = self[...]
        while !rest.isEmpty {
            // A slice of text ends between two scalars, wherever its end was put.
            let end = rest.utf8.index(rest.startIndex, offsetBy: size, limitedBy: rest.endIndex) ?? rest.endIndex
            let piece = rest[..<end]
            pieces.append(piece)
            rest = rest[piece.endIndex...]
        }
        return pieces
    }
}
