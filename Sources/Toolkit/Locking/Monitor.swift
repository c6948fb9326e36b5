public import Glibc

/// A value that is protected by a mutex, with a condition variable on which dedicated threads wait for work.
///
/// Only dedicated threads (``startThread(name:_:)``) may call ``wait(for:)``, because a wait inside a Swift task would
/// block one of the few threads of the cooperative pool. ``withLock(_:)`` may be called from any thread.
public final class Monitor<Value>: @unchecked Sendable {
    // `@unchecked Sendable` is safe, because `value` is read and written only while `mutex` is locked.
    private var value: Value
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    /// Creates a monitor that protects this value.
    public init(_ value: sending Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        condition = .allocate(capacity: 1)
        condition.initialize(to: pthread_cond_t())
        var attributes = pthread_condattr_t()
        // Timed waits use the monotonic clock, so a change of the wall clock does not affect them.
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

    /// Runs `body` with exclusive access to the value. Do not call it again inside `body`, which would deadlock.
    ///
    /// - Throws: the error that `body` throws.
    public func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }

    /// Calls `body` repeatedly until it returns a result, and returns the result. Between two calls, the thread sleeps
    /// until ``wakeOne()``, ``wakeAll()`` or the time that `body` has returned.
    ///
    /// `body` runs with exclusive access to the value. It returns ``WaitResult/done(_:)`` with the result, or one of
    /// the other cases to make the thread sleep.
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

    /// Wakes one sleeping thread, if there is one. The call is cheap if no thread sleeps. Call it outside
    /// ``withLock(_:)``.
    public func wakeOne() { pthread_cond_signal(condition) }

    /// Wakes every sleeping thread.
    public func wakeAll() { pthread_cond_broadcast(condition) }
}

/// The result of one check by a thread that waits on a ``Monitor``.
public enum WaitResult<Result> {
    /// The result that the thread waited for.
    case done(Result)
    /// There is no result yet. The thread must check again when it is woken.
    case sleep
    /// There is no result yet. The thread must check again when it is woken, or at this time in nanoseconds of the
    /// monotonic clock.
    case sleepUntil(UInt64)
}

/// A value that is protected by a mutex. Use it for small state that is accessed briefly and never across an `await`.
///
/// The lock is a pthread mutex on the heap and not a `Synchronization.Mutex`, because the thread sanitizer does not
/// recognize the latter and reports false data races. Both have the same cost (measured). See
/// docs/decisions/0050-own-lock-over-pthread.md.
public final class Lock<Value>: @unchecked Sendable {
    // `@unchecked Sendable` is safe, because the value is read and written only between lock and unlock. The members are
    // visible to other modules only so that the compiler can inline them; taking a lock then costs no generic call.
    //
    // The value is in memory of its own, like the mutex. For a property, the program would check at each access that no
    // other access is in progress, which the mutex already guarantees.
    @usableFromInline
    internal let value: UnsafeMutablePointer<Value>
    @usableFromInline
    internal let mutex: UnsafeMutablePointer<pthread_mutex_t>

    /// Creates a lock that protects this value.
    public init(_ value: sending Value) {
        self.value = .allocate(capacity: 1)
        self.value.initialize(to: value)
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        let code = pthread_mutex_init(mutex, nil)
        precondition(code == 0, "pthread_mutex_init failed with \(code)")
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deinitialize(count: 1)
        mutex.deallocate()
        value.deinitialize(count: 1)
        value.deallocate()
    }

    /// Runs `body` with exclusive access to the value. Do not use the same lock inside `body`, which would deadlock.
    ///
    /// - Throws: the error that `body` throws.
    @inlinable
    public func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }
}
