public import Glibc

/// A value behind a mutex, with a condition variable on which a dedicated thread sleeps until it is given work.
///
/// Only threads that the program owns may wait (``startThread(name:_:)``): a wait inside a Swift task would block one
/// of the few threads of the cooperative pool. ``withLock(_:)`` may be called from any thread, like that of ``Lock``.
public final class Monitor<Value>: @unchecked Sendable {
    // Safe to share: `value` is read and written only while `mutex` is held.
    private var value: Value
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    /// Creates a monitor of this value.
    public init(_ value: sending Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        condition = .allocate(capacity: 1)
        condition.initialize(to: pthread_cond_t())
        var attributes = pthread_condattr_t()
        // Timed waits use the monotonic clock, so a step of the wall clock neither shortens nor lengthens them.
        let codes = [
            pthread_mutex_init(mutex, nil), pthread_condattr_init(&attributes),
            pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC), pthread_cond_init(condition, &attributes),
        ]
        pthread_condattr_destroy(&attributes)
        precondition(codes.allSatisfy { $0 == 0 }, "pthread initialisation failed with \(codes)")
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deinitialize(count: 1)
        condition.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deinitialize(count: 1)
        mutex.deallocate()
    }

    /// Runs `body` with exclusive access to the value. Not re-entrant.
    ///
    /// - Throws: the error that `body` throws.
    public func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }

    /// Calls `body` until it returns a result. Between the calls the thread sleeps until ``wakeOne()``, ``wakeAll()``
    /// or the deadline that `body` returned.
    ///
    /// `body` runs with exclusive access to the value. It returns the result, or for how long to sleep.
    public func wait<Result>(for body: (inout sending Value) -> sending WaitResult<Result>) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            switch body(&value) {
            case .done(let result):
                return result
            case .sleep:
                pthread_cond_wait(condition, mutex)
            case .sleepUntil(let nanoseconds):
                var deadline = timespec(
                    tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
                pthread_cond_timedwait(condition, mutex, &deadline)
            }
        }
    }

    /// Wakes one sleeping thread, if there is one. Cheap when there is none. Call it after the lock was released.
    public func wakeOne() { pthread_cond_signal(condition) }

    /// Wakes every sleeping thread.
    public func wakeAll() { pthread_cond_broadcast(condition) }
}

/// The result of one check by a thread that waits on a ``Monitor``.
public enum WaitResult<Result> {
    /// The result that the thread waited for.
    case done(Result)
    /// No result yet: check again when woken.
    case sleep
    /// No result yet: check again when woken, or when the nanoseconds of the monotonic clock pass this value.
    case sleepUntil(UInt64)
}

/// A value behind a mutex: for small state, accessed briefly and never across an `await`.
///
/// A pthread mutex on the heap rather than `Synchronization.Mutex`: the thread sanitizer does not recognize the latter
/// and would report all data that it guards. Both cost the same (measured). See
/// docs/decisions/0050-own-lock-over-pthread.md.
public final class Lock<Value>: @unchecked Sendable {
    // Safe to share: `value` is read and written only between lock and unlock below. The members are visible to other
    // modules only so that the compiler can inline them; taking a lock then costs no generic call.
    @usableFromInline
    internal var value: Value
    @usableFromInline
    internal let mutex: UnsafeMutablePointer<pthread_mutex_t>

    /// Creates a lock that guards this value.
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

    /// Runs `body` with exclusive access to the value. Not re-entrant: taking the same lock inside `body` deadlocks.
    ///
    /// - Throws: the error that `body` throws.
    @inlinable
    public func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
