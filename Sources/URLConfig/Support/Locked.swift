/// A value and its lock; the library has no other locks.
///
/// `@unchecked Sendable` is safe because the value is used only in `withLock`, while the lock is held. Never suspend,
/// call user code or take a second lock inside the closure. (`Synchronization.Mutex` needs a newer Apple OS.)
package struct Locked<Value: Sendable>: @unchecked Sendable {
    /// The value, and behind it the lock: one allocation.
    private final class Storage: ManagedBuffer<Value, pthread_mutex_t> {
        deinit { _ = withUnsafeMutablePointerToElements { pthread_mutex_destroy($0) } }
    }

    private let storage: ManagedBuffer<Value, pthread_mutex_t>

    /// - Parameter value: Made in its place: a copy of a large value takes long.
    package init(_ value: @autoclosure () -> Value) {
        storage = Storage.create(minimumCapacity: 1) { _ in value() }
        _ = storage.withUnsafeMutablePointerToElements { pthread_mutex_init($0, nil) }
    }

    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try storage.withUnsafeMutablePointers { value, lock throws(Failure) in
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
            return try body(&value.pointee)
        }
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
