import ChatCore
import ChatKit
public import ChatModel

extension EngineBackend {
    public func group(_ id: String) async throws(ChatError) -> GroupRecord? { try await access.group(id) }

    public func groups(limit: Int, cursor: String?) async throws(ChatError) -> Page<String> {
        let page = try await access.groups(ChatCore.RecordList(limit: limit, cursor: cursor))
        return Page(items: page.items.map(\.id), hasMore: page.hasMore, cursor: page.cursor)
    }

    public func change(group id: String, adding: [String], removing: [String]) async throws(ChatError) {
        _ = try await access.write(group: id, .change(adding: adding, removing: removing))
    }

    public func delete(group id: String) async throws(ChatError) { try await access.delete(group: id) }
}
