#if AsyncHTTPClient

/// What a connection tells about one request: whether it was sent, and what ended its response too early.
///
/// Of a request, AsyncHTTPClient gives a connection only the head. So the number of the delivery is a field of it,
/// which ``ConnectionGuard`` removes.
final class Delivery: Sendable {
    private struct Weak {
        weak var delivery: Delivery?
    }

    private struct Deliveries {
        var last = 0
        var running: [Int: Weak] = [:]
    }

    private struct State {
        var isSent = false
        var failure: (any Error)?
    }

    static let field = "urlconfig-delivery"
    private static let all = Locked(Deliveries())

    let number: Int
    private let origin: Origin
    private let state = Locked(State())

    init(to origin: Origin) {
        self.origin = origin
        number = Self.all.withLock { all in
            all.last += 1
            return all.last
        }
        Self.all.withLock { $0.running[number] = Weak(delivery: self) }
    }

    deinit { Self.all.withLock { _ = $0.running.removeValue(forKey: number) } }

    /// - Parameter number: The value of ``field``.
    static func numbered(_ number: String) -> Delivery? {
        guard let number = Int(number) else { return nil }
        return all.withLock { $0.running[number]?.delivery }
    }

    /// Whether a connection has begun to write the request.
    var isSent: Bool { state.withLock { $0.isSent } }

    /// Why the response ended too early; `nil` if it did not.
    ///
    /// It is thrown after all bytes that have arrived. AsyncHTTPClient itself drops those that were not read yet.
    var failure: (any Error)? { state.withLock { $0.failure } }

    func begin() {
        state.set(\.isSent, true)
        Establishing.succeeded(to: origin)
    }

    func fail(_ error: any Error) { state.set(\.failure, error) }
}

#endif
