public import Glibc

/// A value behind a mutex: small state, touched briefly, never across an `await`.
///
/// A pthread mutex on the heap rather than `Synchronization.Mutex`: the thread sanitizer cannot see the latter
/// and would report every datum it guards; the cost of both is the same (measured).
public final class Lock<Value>: @unchecked Sendable {
    // Safe to share: `value` is read and written only between lock and unlock below.
    // What other rooms see of them is for the compiler, so that taking a lock costs no generic call.
    @usableFromInline
    internal var value: Value
    @usableFromInline
    internal let mutex: UnsafeMutablePointer<pthread_mutex_t>

    public init(_ value: sending Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        let code = pthread_mutex_init(mutex, nil)
        precondition(code == 0, "pthread_mutex_init failed with \(code)")
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deinitialize(count: 1)
        mutex.deallocate()
    }

    /// Runs `body` with exclusive access to the value. Not re-entrant: taking the same lock inside deadlocks.
    @inlinable
    public func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
