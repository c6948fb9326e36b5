import ChatCore
public import ChatModel
import HTTPServer
import Locking

/// Observes changes of channel groups for all streams and polls that follow groups.
///
/// The actor runs on the loop. Its observers are called on the same loop.
public actor GroupObserver {
    /// The loop's executor.
    public nonisolated let unownedExecutor: UnownedSerialExecutor
    private let service: ChatService
    private let observers = Lock<[@Sendable (Set<RecordKey>) async -> Void]>([])
    private var task: Task<Void, Never>?
    /// The number of group changes since the first call of `version()`.
    public private(set) var changes: UInt64 = 0
    /// The revision of the store of records up to which the observers have processed all changes.
    private var seen: Revision = 0
    private let waiters = PositionWaiters<Revision>()

    init(service: ChatService, loop: Loop) {
        self.service = service
        unownedExecutor = loop.asUnownedSerialExecutor()
        service.observeGroups { [weak self] in await self?.reach($0) }
    }

    /// Adds an observer.
    ///
    /// - Parameter body: called on the loop with the keys of the changed groups.
    public nonisolated func observe(_ body: @escaping @Sendable (Set<RecordKey>) async -> Void) {
        observers.withLock { $0.append(body) }
    }

    /// The number of group changes so far. The first call begins to observe the records of groups.
    ///
    /// - Throws: the errors of the store at the first call.
    public func version() async throws(ChatError) -> UInt64 {
        if task == nil {
            let directory = service.engine.directory
            let revision = try await directory.revision()
            // Another caller may have started the task in the meantime.
            if task == nil {
                seen = revision
                task = Task { await self.watch(directory, from: revision) }
            }
        }
        return changes
    }

    private func watch(_ directory: any Directory, from revision: Revision) async {
        for await changes in await directory.changes(after: revision) {
            let groups = Set(changes.keys.filter { $0.kind == .group })
            if !groups.isEmpty {
                self.changes += 1
                for observer in observers.withLock({ $0 }) { await observer(groups) }
            }
            wake(upTo: changes.revision)
        }
        wake(upTo: .max)
    }

    /// Waits until the observers have processed all changes up to a revision. Returns immediately while no group is
    /// followed.
    private func reach(_ revision: Revision) async {
        guard task != nil, seen < revision else { return }
        _ = await waiters.wait(for: revision)
    }

    private func wake(upTo revision: Revision) {
        seen = revision
        waiters.resume(through: revision)
    }
}
