import ChatModel
import Locking

/// The attempts that have begun and not ended. Each attempt has its leases, its post until a response arrives, and the
/// memory reserved for the post.
///
/// An attempt is identified by ``Lease/attempt``. ``begin(_:)`` adds an attempt. ``end(_:)`` removes the attempt with
/// its last lease and releases its memory.
final class AttemptsInFlight: Sendable {
    private struct Attempt {
        /// The leases of the attempt, by fence number (the unique number of a lease).
        var leases: [UInt64: Lease] = [:]
        let since: ContinuousClock.Instant
        /// The post that is being sent; nil before it is sent and after its response.
        var post: PostRun.Post?
        /// The bytes that are reserved for the attempt's post.
        var bytes = 0
    }

    private struct State {
        var attempts: [UInt64: Attempt] = [:]
        var leases = 0
        /// The bytes that can still be reserved.
        var freeBytes: Int
        /// The bytes that each app has reserved.
        var bytes: [AppID: Int] = [:]
        var isDraining = false
        var sleepers: [CheckedContinuation<Void, Never>] = []

        mutating func removeSleepers() -> [CheckedContinuation<Void, Never>] {
            defer { sleepers = [] }
            return sleepers
        }

        /// Sets the number of bytes that an attempt has reserved.
        mutating func setBytes(_ bytes: Int, of number: UInt64, _ app: AppID) {
            let added = bytes - (attempts[number]?.bytes ?? 0)
            guard added != 0, attempts[number] != nil else { return }
            attempts[number]?.bytes = bytes
            freeBytes -= added
            let held = self.bytes[app, default: 0] + added
            self.bytes[app] = held == 0 ? nil : held
        }
    }

    private let state: Lock<State>

    /// Creates an empty collection of attempts.
    ///
    /// - Parameter bytes: the maximum total size of the posts with several events, in bytes. Each body is in memory
    ///   twice until the response arrives. Without a limit, a thousand connections could use gigabytes.
    init(bytes: Int) { state = Lock(State(freeBytes: bytes)) }

    /// The number of deliveries in all attempts.
    var count: Int { state.withLock { $0.leases } }
    var isDraining: Bool { state.withLock { $0.isDraining } }

    /// Adds attempts. Returns false while the gateway stops, when no more attempts may begin.
    func begin(_ leases: [Lease]) -> Bool {
        let now = ContinuousClock.now
        return state.withLock { state in
            guard !state.isDraining else { return false }
            for lease in leases {
                state.attempts[lease.attempt, default: Attempt(since: now)].leases[lease.fence] = lease
            }
            state.leases += leases.count
            return true
        }
    }

    /// Removes leases from their attempts. A lease that was already removed is ignored.
    func end(_ leases: some Collection<Lease>) {
        let sleepers = state.withLock { state in
            for lease in leases {
                guard state.attempts[lease.attempt]?.leases.removeValue(forKey: lease.fence) != nil else { continue }
                state.leases -= 1
                guard state.attempts[lease.attempt]?.leases.isEmpty == true else { continue }
                state.setBytes(0, of: lease.attempt, lease.delivery.subscriber.app)
                state.attempts[lease.attempt] = nil
            }
            return state.leases == 0 ? state.removeSleepers() : []
        }
        for sleeper in sleepers { sleeper.resume() }
    }

    /// The leases of the attempts that began at least `age` ago. These leases must be renewed.
    func heldAtLeast(_ age: Duration) -> [Lease] {
        let now = ContinuousClock.now
        return state.withLock { state in
            state.attempts.values.filter { now - $0.since >= age }.flatMap { $0.leases.values }
        }
    }

    /// Reserves memory for an attempt's post. Returns false when too little memory would be left for other apps: a
    /// single app may reserve at most seven eighths of the memory that other apps have not reserved. Posts of one event
    /// reserve nothing.
    func reserve(_ bytes: Int, for lease: Lease) -> Bool {
        guard bytes > 0 else { return true }
        let app = lease.delivery.subscriber.app
        return state.withLock { state in
            guard (state.bytes[app, default: 0] + bytes) / 7 <= state.freeBytes - bytes else { return false }
            state.setBytes(bytes, of: lease.attempt, app)
            return true
        }
    }

    /// Reduces the reserved memory of an attempt to the size of its post.
    func shrink(to bytes: Int, for lease: Lease) {
        state.withLock { state in
            guard let reserved = state.attempts[lease.attempt]?.bytes, bytes < reserved else { return }
            state.setBytes(bytes, of: lease.attempt, lease.delivery.subscriber.app)
        }
    }

    /// Stores the posts that are being sent, one for each attempt.
    func add(_ posts: [PostRun.Post]) {
        state.withLock { state in
            for post in posts { state.attempts[post.attempt]?.post = post }
        }
    }

    /// Removes and returns the posts of the attempts whose responses have arrived. The result has one post for each
    /// attempt, in the order of `attempts`; nil for an attempt without a post.
    func removePosts(of attempts: some Collection<UInt64>) -> [PostRun.Post?] {
        state.withLock { state in
            attempts.map { attempt in
                defer { state.attempts[attempt]?.post = nil }
                return state.attempts[attempt]?.post
            }
        }
    }

    /// Permits no further attempts, and waits until all attempts have ended or the task is cancelled.
    func drain() async {
        state.withLock { $0.isDraining = true }
        await withTaskCancellationHandler {
            while !Task.isCancelled, count > 0 { await sleep { Task.isCancelled } }
        } onCancel: {
            // Wakes all waiting tasks. Each of them checks its condition again.
            for sleeper in state.withLock({ $0.removeSleepers() }) { sleeper.resume() }
        }
    }

    /// Waits until all attempts have ended. Cancelling the task does not end the wait.
    func allEnded() async {
        while count > 0 { await sleep { false } }
    }

    /// Waits until all attempts have ended or a task that waits in `drain()` is cancelled.
    private func sleep(unless isOver: () -> Bool) async {
        await withCheckedContinuation { continuation in
            let mustWait = state.withLock { state in
                guard state.leases > 0, !isOver() else { return false }
                state.sleepers.append(continuation)
                return true
            }
            if !mustWait { continuation.resume() }
        }
    }
}
