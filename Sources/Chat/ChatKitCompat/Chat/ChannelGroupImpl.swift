import ChatKit
import ChatModel
import ChatRemote

/// A named group of channels.
public final class ChannelGroupImpl: Sendable {
    /// The chat that the group belongs to.
    public let chat: ChatImpl
    /// The name of the group.
    public let id: String

    init(_ chat: ChatImpl, _ id: String) {
        self.chat = chat
        self.id = id
    }

    private var group: ChatKit.ChannelGroup { get throws { try chat.connected.channelGroup(id) } }
}

extension ChannelGroupImpl {
    /// Returns a page of the group's channels in the order in which they were added. The page is empty when the group
    /// does not exist.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of channels; nil selects 100.
    ///   - page: the position of the page, from the previous result; nil selects the first page.
    /// - Throws: the errors common to all calls (see ``ChatImpl``).
    public func listChannels(
        limit: Int? = nil, page: (any PubNubHashedPage)? = nil
    ) async throws -> ChatChannelsPage {
        try await chat.call { _ in
            let ids = try await self.group.listChannels().map(\.id)
            // The cursor of a page is the number of channels before the page.
            let start = min(page?.start.flatMap { Int($0) } ?? 0, ids.count)
            let shown = Array(ids.dropFirst(max(start, 0)).prefix(max(limit ?? 100, 0)))
            let channels = try await self.chat.concurrently(shown) { try await self.chat.channel($0) }
            let end = max(start, 0) + shown.count
            return (channels, end < ids.count ? PubNub.Page(start: "\(end)", totalCount: ids.count) : nil)
        }
    }

    /// Reads a page of the group's channels; see ``listChannels(limit:page:)``.
    ///
    /// - Parameter completion: receives the page.
    public func listChannels(
        limit: Int? = nil, page: (any PubNubHashedPage)? = nil, completion: ChatCompletion<ChatChannelsPage>? = nil
    ) {
        chat.run(completion) { try await self.listChannels(limit: limit, page: page) }
    }

    /// Adds channels to the group. Creates the group when it does not exist.
    ///
    /// - Throws: the errors of ``addChannelIdentifiers(_:)``.
    public func add(channels: [ChannelImpl]) async throws { try await addChannelIdentifiers(channels.map(\.id)) }

    /// Adds channels to the group. Creates the group when it does not exist.
    ///
    /// - Parameter completion: receives success, or the error of the call.
    public func add(channels: [ChannelImpl], completion: ChatCompletion<Void>? = nil) {
        chat.run(completion) { try await self.add(channels: channels) }
    }

    /// Adds channels to the group by their ids. Creates the group when it does not exist.
    ///
    /// - Throws: `forbidden` when the credential has no access to the channels or may not change groups; `badRequest`
    ///   when the group would be too large (2000 channels by default); the errors common to all calls (see
    ///   ``ChatImpl``).
    public func addChannelIdentifiers(_ ids: [String]) async throws {
        try await chat.withBackend { try await $0.change(group: self.id, adding: ids, removing: []) }
    }

    /// Adds channels to the group by their ids. Creates the group when it does not exist.
    ///
    /// - Parameter completion: receives success, or the error of the call.
    public func addChannelIdentifiers(_ ids: [String], completion: ChatCompletion<Void>? = nil) {
        chat.run(completion) { try await self.addChannelIdentifiers(ids) }
    }

    /// Removes channels from the group. An empty group continues to exist.
    ///
    /// - Throws: the errors of ``removeChannelIdentifiers(_:)``.
    public func remove(channels: [ChannelImpl]) async throws { try await removeChannelIdentifiers(channels.map(\.id)) }

    /// Removes channels from the group. An empty group continues to exist.
    ///
    /// - Parameter completion: receives success, or the error of the call.
    public func remove(channels: [ChannelImpl], completion: ChatCompletion<Void>? = nil) {
        chat.run(completion) { try await self.remove(channels: channels) }
    }

    /// Removes channels from the group by their ids. An empty group continues to exist.
    ///
    /// - Throws: `forbidden` when the credential may not change groups; `resourceNotFound` when the group does not
    ///   exist; the errors common to all calls (see ``ChatImpl``).
    public func removeChannelIdentifiers(_ ids: [String]) async throws {
        try await chat.withBackend { try await $0.change(group: self.id, adding: [], removing: ids) }
    }

    /// Removes channels from the group by their ids. An empty group continues to exist.
    ///
    /// - Parameter completion: receives success, or the error of the call.
    public func removeChannelIdentifiers(_ ids: [String], completion: ChatCompletion<Void>? = nil) {
        chat.run(completion) { try await self.removeChannelIdentifiers(ids) }
    }

    /// Returns the ids of the users who are present in each channel of the group.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of user ids for each channel.
    ///   - offset: the number of user ids to skip in each channel; nil selects 0.
    /// - Returns: the user ids, in ascending order, by channel id. Channels without a user id to return are left out.
    /// - Throws: `forbidden` when the chat's user may not read one of the channels; the errors common to all calls (see
    ///   ``ChatImpl``).
    public func whoIsPresent(limit: Int = 1000, offset: Int? = 0) async throws -> [String: [String]] {
        let ids = try await chat.call { _ in try await self.group.listChannels().map(\.id) }
        let users = try await chat.concurrently(ids) {
            try await self.chat.whoIsPresent(channelId: $0, limit: limit, offset: offset)
        }
        return Dictionary(zip(ids, users), uniquingKeysWith: { first, _ in first }).filter { !$0.value.isEmpty }
    }

    /// Reads the ids of the users who are present in each channel of the group; see ``whoIsPresent(limit:offset:)``.
    ///
    /// - Parameter completion: receives the ids of the users who are present in each channel of the group.
    public func whoIsPresent(
        limit: Int = 1000, offset: Int? = 0, completion: ChatCompletion<[String: [String]]>? = nil
    ) {
        chat.run(completion) { try await self.whoIsPresent(limit: limit, offset: offset) }
    }

    /// Calls back with each message that is sent to a channel of the group, except replies and messages of muted users.
    /// After the channels of the group have changed, the listener receives the messages of the new channels.
    ///
    /// - Returns: the listener. It ends when it is closed or released.
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

    /// The older name of ``onMessageReceived(callback:)``.
    @available(*, deprecated, renamed: "onMessageReceived")
    public func connect(callback: @escaping (MessageImpl) -> Void) -> any AutoCloseable {
        onMessageReceived(callback: callback)
    }

    /// Calls back after each presence change in the group's channels. The closure receives the present users as
    /// ``whoIsPresent(limit:offset:)`` returns them.
    ///
    /// - Returns: the listener. It ends when it is closed or released.
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
    /// Returns a channel by its id, without reading its record.
    func channel(named id: String) throws -> ChannelImpl { ChannelImpl(self, try connected.channel(id)) }
}
