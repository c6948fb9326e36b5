public import Glibc

/// A value behind a mutex, with a condition to wait on: how a thread of our own sleeps until it is given work.
///
/// Only threads the program owns may wait (``startThread(name:_:)``): a wait inside a Swift task would take one of the few
/// threads of the cooperative pool from everybody else. ``withLock(_:)`` is for everyone, like ``Lock``.
public final class Monitor<Value>: @unchecked Sendable {
    // Safe to share: `value` is read and written only while `mutex` is held.
    private var value: Value
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    public init(_ value: sending Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        condition = .allocate(capacity: 1)
        condition.initialize(to: pthread_cond_t())
        var attributes = pthread_condattr_t()
        // Timed waits count on the monotonic clock, so a stepped wall clock neither shortens nor stretches them.
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
    public func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }

    /// Asks `body` until it answers, sleeping between the questions until ``wakeOne()``, ``wakeAll()`` or the deadline
    /// `body` names.
    ///
    /// `body` runs with exclusive access; it returns what the caller came for, or how long to sleep.
    public func wait<Result>(for body: (inout sending Value) -> sending WaitResult<Result>) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            switch body(&value) {
            case .done(let result):
                return result
            case .sleep:
                pthread_cond_wait(condition, mutex)
            case .sleepUntil(let uptimeNanoseconds):
                var deadline = timespec(
                    tv_sec: Int(uptimeNanoseconds / 1_000_000_000), tv_nsec: Int(uptimeNanoseconds % 1_000_000_000))
                pthread_cond_timedwait(condition, mutex, &deadline)
            }
        }
    }

    /// Wakes one sleeping thread, if there is one. Cheap when there is none; call it after the lock is released.
    public func wakeOne() { pthread_cond_signal(condition) }

    /// Wakes every sleeping thread.
    public func wakeAll() { pthread_cond_broadcast(condition) }
}

/// What a thread waiting on a ``Monitor`` found.
public enum WaitResult<Result> {
    /// What it waited for.
    case done(Result)
    /// Nothing yet; ask again when woken.
    case sleep
    /// Nothing yet; ask again when woken, or when ``uptimeNanoseconds()`` passes this.
    case sleepUntil(UInt64)
}

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
