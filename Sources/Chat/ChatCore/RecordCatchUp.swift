public import ChatModel
import Locking

/// Brings the records in memory up to date with the store, for a request that would otherwise be rejected because of
/// them. Another node may have changed the records a moment ago.
///
/// Requests that wait at the same time share one read of the store, which begins after all of them have arrived. Reads
/// begin at least ``interval`` apart. So requests with invalid keys cause at most 100 reads per second, however many
/// there are.
actor RecordCatchUp {
    /// The minimum time between the beginnings of two reads.
    static let interval: Duration = .milliseconds(10)
    /// The maximum time for which a request waits until the mirrors have applied what was read.
    static let patience: Duration = .seconds(1)
    /// The maximum time for which a request waits in total. The store may not respond for longer.
    static let longestWait: Duration = .seconds(2)

    private typealias Outcome = Result<Revision, ChatError>

    private let directory: any Directory
    private let mirrors: [RecordMirror]
    private let waitClock: any Clock<Duration>
    /// The read that has begun last; nil before the first one.
    private var current: Task<Outcome, Never>?
    /// The read that has not begun yet; nil when no request waits for one.
    private var next: Task<Outcome, Never>?
    private var earliest = ContinuousClock.now

    /// - Parameter waitClock: measures ``longestWait``.
    init(directory: any Directory, mirrors: [RecordMirror], waitClock: any Clock<Duration> = ContinuousClock()) {
        self.directory = directory
        self.mirrors = mirrors
        self.waitClock = waitClock
    }

    /// Waits until the mirrors have applied all changes that any node committed before this call.
    ///
    /// - Returns: the revision up to which changes are applied.
    /// - Throws: `.unavailable` when the store cannot be read, when the mirrors need more than ``patience``, or after
    ///   ``longestWait``.
    func run() async throws(ChatError) -> Revision {
        guard let outcome = await (next ?? schedule()).value(within: Self.longestWait, on: waitClock) else {
            throw .recordsBehind
        }
        return try outcome.get()
    }

    private func schedule() -> Task<Outcome, Never> {
        let former = current
        let read = Task {
            _ = await former?.value
            // The task is never cancelled.
            try? await Task.sleep(until: earliest)
            (current, next) = (next, nil)
            earliest = .now + Self.interval
            return await self.read()
        }
        next = read
        return read
    }

    private func read() async -> Outcome {
        do throws(ChatError) {
            let revision = try await directory.revision()
            guard await Self.reach(revision, mirrors) else { return .failure(.recordsBehind) }
            return .success(revision)
        } catch {
            return .failure(error)
        }
    }

    /// Waits until mirrors have applied the changes up to a revision. Returns false after ``patience``.
    static func reach(_ revision: Revision, _ mirrors: [RecordMirror]) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                for mirror in mirrors { await mirror.reach(revision) }
                return true
            }
            group.addTask { (try? await Task.sleep(for: patience)) == nil }
            let isReached = await group.next() ?? false
            group.cancelAll()
            return isReached
        }
    }
}

extension ChatService {
    /// Waits until this node's copies of apps, keys, revocations, event types, and rights in channels include all
    /// changes that any node committed before this call. Callers share the reads of the store, of which there are at
    /// most 100 per second. Returns immediately if no other node uses the store.
    ///
    /// - Returns: a revision of the directory of records up to which changes are applied; zero if no other node uses
    ///   the store.
    /// - Throws: `.unavailable` when the store cannot be read.
    @discardableResult public func catchUp() async throws(ChatError) -> Revision {
        isShared ? try await recordCatchUp.run() : 0
    }

    /// Waits until a mirror too includes all changes that any node committed before this call.
    ///
    /// - Throws: `.unavailable` when the store cannot be read, or when the mirror needs more than a second.
    public func catchUp(_ mirror: RecordMirror) async throws(ChatError) {
        guard isShared else { return }
        guard await RecordCatchUp.reach(try await recordCatchUp.run(), [mirror]) else { throw .recordsBehind }
    }

    /// Runs a check of records in memory. If the check rejects the request, catches up with the store (``catchUp()``)
    /// and runs the check again, because another node may have changed the records a moment ago. A check that passes
    /// costs nothing more.
    ///
    /// - Throws: the errors of `check`; `.unavailable` when the check rejects the request and the store cannot be read.
    public nonisolated(nonsending) func confirmingRefusal<Value>(
        _ check: nonisolated(nonsending) () async throws(ChatError) -> Value
    ) async throws(ChatError) -> Value {
        do throws(ChatError) {
            return try await check()
        } catch {
            guard isShared, error.mayBeOutdated else { throw error }
            try await catchUp()
            return try await check()
        }
    }
}

extension ChatError {
    /// True for the codes of errors that records in memory may cause, and newer records may avoid.
    var mayBeOutdated: Bool {
        // No record makes up for a missing credential.
        [.unauthorized, .forbidden, .notFound, .invalid].contains(code) && slug != "credential_missing"
    }

    fileprivate static let recordsBehind = ChatError(
        .unavailable, "this node has not read the newest changes of the other nodes yet; try again",
        retryAfter: .seconds(1))
}
