import ChatCore
public import ChatModel
import HTTPServer
import Locking

/// Hears of channel groups that change, for all who follow some.
///
/// An actor on the streaming loop, like those it tells.
public actor GroupWatch {
    public nonisolated let unownedExecutor: UnownedSerialExecutor
    private let service: ChatService
    private let observers = Lock<[@Sendable (Set<RecordKey>) async -> Void]>([])
    private var task: Task<Void, Never>?
    /// How many changes there were since the first one asked.
    public private(set) var changes: UInt64 = 0

    init(service: ChatService, loop: Loop) {
        self.service = service
        unownedExecutor = loop.asUnownedSerialExecutor()
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
            if task == nil { task = Task { await self.watch(directory, from: revision) } }
        }
        return changes
    }

    private func watch(_ directory: any Directory, from revision: Revision) async {
        for await changes in await directory.changes(after: revision) {
            let groups = Set(changes.keys.filter { $0.kind == .group })
            guard !groups.isEmpty else { continue }
            self.changes += 1
            for observer in observers.withLock({ $0 }) { await observer(groups) }
        }
    }
}
