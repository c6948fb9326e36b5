import ChatCore
public import ChatModel
import HTTPServer
import Locking

/// Hears of channel groups that change, for all who follow some.
///
/// An actor on the streaming loop, like those it tells.
public actor GroupObserver {
    public nonisolated let unownedExecutor: UnownedSerialExecutor
    private let service: ChatService
    private let observers = Lock<[@Sendable (Set<RecordKey>) async -> Void]>([])
    private var task: Task<Void, Never>?
    /// How many changes there were since the first one asked.
    public private(set) var changes: UInt64 = 0
    /// Everything up to here has been told.
    private var seen: Revision = 0
    private var waiters: [(target: Revision, continuation: CheckedContinuation<Void, Never>)] = []

    init(service: ChatService, loop: Loop) {
        self.service = service
        unownedExecutor = loop.asUnownedSerialExecutor()
        service.observeGroups { [weak self] in await self?.reach($0) }
    }

    /// - Parameter body: called on the loop with the keys of the groups that have changed.
    public nonisolated func observe(_ body: @escaping @Sendable (Set<RecordKey>) async -> Void) {
        observers.withLock { $0.append(body) }
    }

    /// How many changes there were; from the first call on they are followed.
    public func version() async throws(ChatError) -> UInt64 {
        if task == nil {
            let directory = service.engine.directory
            let revision = try await directory.revision()
            // Somebody else may have begun meanwhile.
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

    /// Returns once everybody has been told of what changed up to there; at once where nobody follows a group.
    private func reach(_ revision: Revision) async {
        guard task != nil, seen < revision else { return }
        await withCheckedContinuation { continuation in
            // Once more: others may have had a turn on the way here.
            if seen < revision { waiters.append((revision, continuation)) } else { continuation.resume() }
        }
    }

    private func wake(upTo revision: Revision) {
        seen = revision
        for waiter in waiters where waiter.target <= revision { waiter.continuation.resume() }
        waiters.removeAll { $0.target <= revision }
    }
}
