#if AsyncHTTPClient

/// What a connection tells about one request: whether it was sent, and what ended its response too early.
///
/// Of a request, AsyncHTTPClient gives a connection only the head. So the number of the delivery is a field of it,
/// which ``ConnectionGuard`` removes.
final class Delivery: Sendable {
    private struct Waiting {
        /// No number is used twice: a request that was given up may still be written.
        var last = 0
        /// The deliveries of requests that were not sent yet.
        var deliveries: [Int: Delivery] = [:]
    }

    private struct State {
        /// `nil` before the delivery is announced.
        var number: Int?
        var isSent = false
        var failure: (any Error)?
    }

    static let field = "urlconfig-delivery"
    private static let waiting = Locked(Waiting())

    let url: URL?
    /// Called when bytes were read, or with the number of bytes of the request's body that were written.
    private let didMove: @Sendable (Int) -> Void
    private let state = Locked(State())

    /// - Parameters:
    ///   - url: The URL of the request.
    ///   - didMove: Called when bytes were read, or with the number of bytes of the request's body that were written.
    init(to url: URL?, didMove: @escaping @Sendable (Int) -> Void = { _ in }) {
        self.url = url
        self.didMove = didMove
    }

    /// The value of ``field`` for the connection that sends the request; see ``withdraw()``.
    func announce() -> String {
        let number = Self.waiting.withLock { waiting in
            waiting.last += 1
            waiting.deliveries[waiting.last] = self
            return waiting.last
        }
        state.withLock { $0.number = number }
        return "\(number)"
    }

    /// Forgets a request that no connection has sent.
    func withdraw() {
        guard let number = state.withLock({ $0.number }) else { return }
        // It must not be released while the lock is held.
        _ = Self.waiting.withLock { $0.deliveries.removeValue(forKey: number) }
    }

    /// The delivery that was announced; `nil` if a connection has it already, or if it was withdrawn.
    ///
    /// - Parameter number: The value of ``field``.
    static func announced(_ number: String) -> Delivery? {
        guard let number = Int(number) else { return nil }
        return waiting.withLock { $0.deliveries.removeValue(forKey: number) }
    }

    /// The number of requests to a URL that were not sent yet.
    static func waiting(for url: URL?) -> Int {
        waiting.withLock { $0.deliveries.values.count { $0.url == url } }
    }

    /// Whether a connection has begun to write the request.
    var isSent: Bool { state.withLock { $0.isSent } }

    /// Why the response ended too early; `nil` if it did not.
    ///
    /// It is thrown after all bytes that have arrived. AsyncHTTPClient itself drops those that were not read yet.
    var failure: (any Error)? { state.withLock { $0.failure } }

    func begin() {
        state.withLock { $0.isSent = true }
        didMove(0)
        Establishing.succeeded(to: url)
    }

    func fail(_ error: any Error) { state.set(\.failure, error) }

    /// Bytes were read, or bytes of the request's body were written.
    ///
    /// - Parameter written: The number of bytes that were written.
    func move(written: Int = 0) { didMove(written) }
}

#endif
