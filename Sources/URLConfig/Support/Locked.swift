/// A value and its lock; the library has no other locks.
///
/// `@unchecked Sendable` is safe because `value` is used only in `withLock`, while `lock` is held. Never suspend, call
/// user code or take a second lock inside the closure. (`Synchronization.Mutex` needs a newer Apple OS.)
package final class Locked<Value: Sendable>: @unchecked Sendable {
    /// It costs half of an `NSLock`, which has two mutexes on Linux.
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var value: Value

    package init(_ value: Value) {
        self.value = value
        pthread_mutex_init(lock, nil)
    }

    deinit {
        pthread_mutex_destroy(lock)
        lock.deallocate()
    }

    package func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return try body(&value)
    }

    /// Replaces a part of the value.
    ///
    /// The old part is released after the lock, because the `deinit` of a caller's object may take the lock again.
    package func set<Part>(_ part: WritableKeyPath<Value, Part>, _ new: Part) {
        _ = withLock { value in
            let old = value[keyPath: part]
            value[keyPath: part] = new
            return old
        }
    }
}
