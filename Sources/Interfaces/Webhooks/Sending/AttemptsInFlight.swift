import ChatModel
import Locking

/// The attempts that have begun and not ended: their leases, their posts while no response has come, and the memory
/// reserved for posts of several events.
///
/// An attempt is known by ``Lease/attempt``. Its record is made by ``begin(_:)`` and removed with its last lease by
/// ``end(_:)``, which also releases its memory.
final class AttemptsInFlight: Sendable {
    private struct Attempt {
        /// The leases by their fences, which are unique.
        var leases: [UInt64: Lease] = [:]
        let since: ContinuousClock.Instant
        /// The post under way.
        var post: PostRun.Post?
        /// The bytes reserved for its post.
        var bytes = 0
    }

    private struct State {
        var attempts: [UInt64: Attempt] = [:]
        var leases = 0
        /// The bytes that posts may still reserve, and those that each app has reserved.
        var freeBytes: Int
        var bytes: [AppID: Int] = [:]
        var isDraining = false
        var sleepers: [CheckedContinuation<Void, Never>] = []

        mutating func removeSleepers() -> [CheckedContinuation<Void, Never>] {
            defer { sleepers = [] }
            return sleepers
        }

        /// Changes the bytes that an attempt has reserved.
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

    /// - Parameter bytes: the most bytes of posts of several events. Each body is in memory twice until the response
    ///   comes, and with a thousand connections these would otherwise take gigabytes.
    init(bytes: Int) { state = Lock(State(freeBytes: bytes)) }

    /// The number of deliveries in the attempts.
    var count: Int { state.withLock { $0.leases } }
    var isDraining: Bool { state.withLock { $0.isDraining } }

    /// Adds attempts; false when no more attempts may begin.
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

    /// Ends the use of these leases. A lease that has ended already is ignored.
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

    /// The leases of attempts that began at least this long ago, to renew those that take long.
    func heldAtLeast(_ age: Duration) -> [Lease] {
        let now = ContinuousClock.now
        return state.withLock { state in
            state.attempts.values.filter { now - $0.since >= age }.flatMap { $0.leases.values }
        }
    }

    /// Reserves the memory of an attempt's post when that leaves enough for other apps: an app alone gets seven
    /// eighths, as with attempts. Posts of one event reserve nothing.
    func reserve(_ bytes: Int, for lease: Lease) -> Bool {
        guard bytes > 0 else { return true }
        let app = lease.delivery.subscriber.app
        return state.withLock { state in
            guard (state.bytes[app, default: 0] + bytes) / 7 <= state.freeBytes - bytes else { return false }
            state.setBytes(bytes, of: lease.attempt, app)
            return true
        }
    }

    /// Releases the part of an attempt's reserved memory that its post does not need.
    func shrink(to bytes: Int, for lease: Lease) {
        state.withLock { state in
            guard let reserved = state.attempts[lease.attempt]?.bytes, bytes < reserved else { return }
            state.setBytes(bytes, of: lease.attempt, lease.delivery.subscriber.app)
        }
    }

    /// Stores the posts that are sent now. Each attempt has one.
    func add(_ posts: [PostRun.Post]) {
        state.withLock { state in
            for post in posts { state.attempts[post.attempt]?.post = post }
        }
    }

    /// Removes and returns the posts of these attempts, to which a response has come; nil for one without a post.
    func removePosts(of attempts: some Collection<UInt64>) -> [PostRun.Post?] {
        state.withLock { state in
            attempts.map { attempt in
                defer { state.attempts[attempt]?.post = nil }
                return state.attempts[attempt]?.post
            }
        }
    }

    /// Permits no further attempts. Returns when all have ended, or when cancelled.
    func drain() async {
        state.withLock { $0.isDraining = true }
        await withTaskCancellationHandler {
            while !Task.isCancelled, count > 0 { await sleep { Task.isCancelled } }
        } onCancel: {
            // Wakes every waiting task; each checks its condition again.
            for sleeper in state.withLock({ $0.removeSleepers() }) { sleeper.resume() }
        }
    }

    /// Returns when all attempts have ended. Cancelling the task does not end the wait.
    func allEnded() async {
        while count > 0 { await sleep { false } }
    }

    /// Returns when all attempts have ended or a waiting task was cancelled.
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
