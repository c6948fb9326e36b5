public import ChatModel

/// Channel groups of a ``ChatBackend``.
public protocol GroupBackend: Sendable {
    /// Nil when there is none.
    func group(_ id: String) async throws(ChatError) -> GroupRecord?
    /// The names of all groups, in their order.
    func groups(limit: Int, cursor: String?) async throws(ChatError) -> Page<String>
    /// Takes channels in and out; the group is made by it where there is none.
    func change(group id: String, adding: [String], removing: [String]) async throws(ChatError)
    func delete(group id: String) async throws(ChatError)
}
