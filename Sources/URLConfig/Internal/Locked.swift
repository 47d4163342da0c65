/// One value behind one lock: every lock of the library is one of these.
///
/// Invariant that makes `@unchecked Sendable` right: `value` is touched only in `withLock`, while `lock` is held, and
/// no reference to it leaves the closure. Never suspend, call out to user code or take a second box inside the closure.
/// (`Synchronization.Mutex` needs a newer Apple OS than the package does.)
final class Locked<Value: Sendable>: @unchecked Sendable {
    /// Half the cost of an `NSLock`, which on Linux takes a second one for those who wait with a time limit.
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var value: Value

    init(_ value: Value) {
        self.value = value
        pthread_mutex_init(lock, nil)
    }

    deinit {
        pthread_mutex_destroy(lock)
        lock.deallocate()
    }

    func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure) -> Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return try body(&value)
    }

    /// Replaces a part of the value.
    ///
    /// The old one goes when the lock is free again: it may be a caller's object, whose `deinit` may come back here.
    func set<Part>(_ part: WritableKeyPath<Value, Part>, _ new: Part) {
        _ = withLock { value in
            let old = value[keyPath: part]
            value[keyPath: part] = new
            return old
        }
    }
}
