/// One value behind one lock: every lock of the library is one of these.
///
/// Invariant that makes `@unchecked Sendable` right: `value` is touched only in `withLock`, while `lock` is held, and no
/// reference to it leaves the closure. Never suspend, call out to user code or take a second box inside the closure.
/// (`Synchronization.Mutex` would do the same without the promise, but needs a newer Apple OS than the package does.)
final class LockBox<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) {
        self.value = value
    }

    func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }

    /// Replaces a part of the value.
    ///
    /// The old one goes when the lock is free again: what it holds may be a caller's object, whose `deinit` may well
    /// come back here.
    func set<Part>(_ part: WritableKeyPath<Value, Part>, _ new: Part) {
        _ = withLock { value in
            let old = value[keyPath: part]
            value[keyPath: part] = new
            return old
        }
    }
}
