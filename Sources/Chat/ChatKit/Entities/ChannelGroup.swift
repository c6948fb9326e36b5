public import ChatModel

/// Channels under one name, to be followed together by ``Chat/subscription(channels:groups:presence:filter:since:)``.
public struct ChannelGroup: Sendable, Identifiable {
    public let chat: Chat
    public let id: String

    /// Its channels in the order they were added, without their records; none when there is no such group.
    public func listChannels() async throws(ChatError) -> [Channel] {
        (try await chat.backend.group(id)?.channels ?? []).map { chat.channel($0) }
    }

    /// Takes channels in. The group is made by it where there is none.
    public func addChannels(_ channels: [Channel]) async throws(ChatError) {
        try await chat.backend.change(group: id, adding: channels.map(\.id), removing: [])
    }

    /// Takes channels out. The group stays when it is empty.
    public func removeChannels(_ channels: [Channel]) async throws(ChatError) {
        try await chat.backend.change(group: id, adding: [], removing: channels.map(\.id))
    }
}

extension Chat {
    /// A channel group by its id, without asking whether there is one.
    public func channelGroup(_ id: String) -> ChannelGroup { ChannelGroup(chat: self, id: id) }

    /// The groups there are, by their names, a page at a time.
    public func getChannelGroups(
        limit: Int = 50, page: String? = nil
    ) async throws(ChatError) -> (groups: [ChannelGroup], page: String?) {
        let found = try await backend.groups(limit: limit, cursor: page)
        return (found.items.map { channelGroup($0) }, found.cursor)
    }

    /// Deletes a group; nothing happens when there is none. Its channels stay.
    public func removeChannelGroup(id: String) async throws(ChatError) { try await backend.delete(group: id) }
}
