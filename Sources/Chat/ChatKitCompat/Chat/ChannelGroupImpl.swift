import ChatKit
import ChatModel
import ChatRemote

/// A named group of channels.
public final class ChannelGroupImpl: Sendable {
    public let chat: ChatImpl
    public let id: String

    init(_ chat: ChatImpl, _ id: String) {
        self.chat = chat
        self.id = id
    }

    private var group: ChatKit.ChannelGroup { get throws { try chat.connected.channelGroup(id) } }
}

extension ChannelGroupImpl {
    /// Returns a page of the group's channels in the order in which they were added; none when the group does not exist.
    ///
    /// - Parameter limit: the maximum number of channels; 100 if nil.
    public func listChannels(
        limit: Int? = nil, page: (any PubNubHashedPage)? = nil
    ) async throws -> ChatChannelsPage {
        try await chat.call { _ in
            let ids = try await self.group.listChannels().map(\.id)
            // The position of a page is the number of channels before it.
            let start = min(page?.start.flatMap { Int($0) } ?? 0, ids.count)
            let shown = Array(ids.dropFirst(max(start, 0)).prefix(max(limit ?? 100, 0)))
            let channels = try await self.chat.concurrently(shown) { try await self.chat.channel($0) }
            let end = max(start, 0) + shown.count
            return (channels, end < ids.count ? PubNub.Page(start: "\(end)", totalCount: ids.count) : nil)
        }
    }

    /// Reads a page of the group's channels in the order in which they were added; none when the group does not exist.
    ///
    /// - Parameter limit: the maximum number of channels; 100 if nil.
    public func listChannels(
        limit: Int? = nil, page: (any PubNubHashedPage)? = nil, completion: ChatCompletion<ChatChannelsPage>? = nil
    ) {
        chat.run(completion) { try await self.listChannels(limit: limit, page: page) }
    }

    /// Adds channels, and creates the group when it does not exist.
    public func add(channels: [ChannelImpl]) async throws { try await addChannelIdentifiers(channels.map(\.id)) }

    /// Adds channels, and creates the group when it does not exist.
    public func add(channels: [ChannelImpl], completion: ChatCompletion<Void>? = nil) {
        chat.run(completion) { try await self.add(channels: channels) }
    }

    /// Adds channels by their ids, and creates the group when it does not exist.
    public func addChannelIdentifiers(_ ids: [String]) async throws {
        try await chat.withBackend { try await $0.change(group: self.id, adding: ids, removing: []) }
    }

    /// Adds channels by their ids, and creates the group when it does not exist.
    public func addChannelIdentifiers(_ ids: [String], completion: ChatCompletion<Void>? = nil) {
        chat.run(completion) { try await self.addChannelIdentifiers(ids) }
    }

    /// Removes channels from the group.
    public func remove(channels: [ChannelImpl]) async throws { try await removeChannelIdentifiers(channels.map(\.id)) }

    /// Removes channels from the group.
    public func remove(channels: [ChannelImpl], completion: ChatCompletion<Void>? = nil) {
        chat.run(completion) { try await self.remove(channels: channels) }
    }

    /// Removes channels from the group by their ids.
    public func removeChannelIdentifiers(_ ids: [String]) async throws {
        try await chat.withBackend { try await $0.change(group: self.id, adding: [], removing: ids) }
    }

    /// Removes channels from the group by their ids.
    public func removeChannelIdentifiers(_ ids: [String], completion: ChatCompletion<Void>? = nil) {
        chat.run(completion) { try await self.removeChannelIdentifiers(ids) }
    }

    /// Returns the ids of the present users by the ids of the channels.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of ids for each channel.
    ///   - offset: the number of ids to leave out at the beginning.
    public func whoIsPresent(limit: Int = 1000, offset: Int? = 0) async throws -> [String: [String]] {
        let ids = try await chat.call { _ in try await self.group.listChannels().map(\.id) }
        let users = try await chat.concurrently(ids) {
            try await self.chat.whoIsPresent(channelId: $0, limit: limit, offset: offset)
        }
        return Dictionary(zip(ids, users), uniquingKeysWith: { first, _ in first }).filter { !$0.value.isEmpty }
    }

    /// Reads the ids of the present users by the ids of the channels; see ``whoIsPresent(limit:offset:)``.
    public func whoIsPresent(
        limit: Int = 1000, offset: Int? = 0, completion: ChatCompletion<[String: [String]]>? = nil
    ) {
        chat.run(completion) { try await self.whoIsPresent(limit: limit, offset: offset) }
    }

    /// Calls back with each message that is sent to a channel of the group, without replies. Changes of the group take
    /// effect meanwhile.
    public func onMessageReceived(callback: @escaping (MessageImpl) -> Void) -> any AutoCloseable {
        let (chat, id) = (chat, id)
        return chat.listen(
            {
                var selection = EventSelection(types: [BuiltInTypes.messageCreated])
                selection.groups = [id]
                return try chat.connected.events(selection)
            },
            { event in
                if chat.mutedUsersManager.isMuted(event.publisher ?? "") { return nil }
                let channel = try chat.channel(named: event.channel.name)
                let message = try await channel.getMessage(timetoken: event.published.rawValue)
                return message?.message.parentTimetoken == nil ? message : nil
            }, callback)
    }

    /// Calls back with each message that is sent to a channel of the group.
    @available(*, deprecated, renamed: "onMessageReceived")
    public func connect(callback: @escaping (MessageImpl) -> Void) -> any AutoCloseable {
        onMessageReceived(callback: callback)
    }

    /// Calls back with the present users of the group's channels after each change.
    public func onPresenceChanged(callback: @escaping ([String: [String]]) -> Void) -> any AutoCloseable {
        let group = self
        return chat.listen(
            {
                var selection = EventSelection(types: ["presence.*"])
                selection.groups = [group.id]
                selection.hasPresence = true
                return try group.chat.connected.events(selection)
            }, { _ in try await group.whoIsPresent() }, callback)
    }
}

extension ChatImpl {
    /// Returns a channel without reading its record.
    func channel(named id: String) throws -> ChannelImpl { ChannelImpl(self, try connected.channel(id)) }
}
