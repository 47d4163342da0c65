@testable import URLConfig

/// A server whose response is long and does not end, and what happened there.
final class EndlessBody: Sendable {
    private let state = Locked((sent: 0, isOver: false))
    private let length: Int

    /// - Parameter length: The bytes after which the server waits. Without a limit, a slow reader would leave gigabytes
    ///   in its temporary file, and Foundation's queue would be busy with them.
    init(length: Int = 8_000_000) {
        self.length = length
    }

    /// The bytes that the system has taken.
    var sent: Int { state.withLock { $0.sent } }
    /// Whether the client has ended the connection.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Sends the bytes of ``Foundation/Data/sample(_:)``.
    var fault: FaultServer.Fault {
        .init { [self] connection in
            try connection.read()
            try connection.send("HTTP/1.1 200 OK\r\n\r\n")
            do {
                while sent < length {
                    try connection.send(Self.many)
                    state.withLock { $0.sent += Self.many.count }
                }
                try connection.waitForEnd()
            } catch {
                state.set(\.isOver, true)
                throw error
            }
        }
    }

    private static let many = Data.sample(15 * Data.samplePeriod)
}
