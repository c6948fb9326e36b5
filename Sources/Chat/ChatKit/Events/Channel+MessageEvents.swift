import ChatModel
import JSON

extension ChannelStreams {
    /// Yields each message sent to the channel, including the user's own messages.
    public func messageReceived() -> ChatStream<Message> {
        let chat = channel.chat
        return events(of: ["message.created"]) { Message(chat: chat, MessageState($0)) }
    }

    /// Yields each report of a message of the channel, and each report that a client sent as an event of the type
    /// `report`. The user must be a moderator of the channel.
    public func messageReported() -> ChatStream<Report> {
        let types = ["report.created", Report.eventType]
        return channel.chat.events(of: types, on: ["PUBNUB_INTERNAL_MODERATION_" + channel.id]) { event in
            event.type == Report.eventType ? Report(emitted: event) : Report(AnyJSON(event.data))
        }
    }

    /// Yields a receipt each time a member of the channel has read newer messages.
    public func readReceiptReceived() -> ChatStream<ReadReceipt> {
        events(of: ["receipt.read"]) { ReadReceipt($0, AnyJSON($0.data)) }
    }

    /// Yields the ids of all users who are present in the channel, in ascending order, each time a user becomes present
    /// or stops being present.
    public func presenceChanged() -> ChatStream<[String]> {
        let channel = channel
        var selection = EventSelection(channels: [channel.id], types: ["presence.*"])
        selection.hasPresence = true
        return ChatStream(chat: channel.chat, selection: selection) { event in
            guard event.type != "presence.state_changed" else { return [] }
            // The event contains only the user who came or left, so all present users are read again. If reading fails,
            // the next change updates the list.
            return (try? await channel.everyonePresent()).map { [$0] } ?? []
        }
    }

    /// Yields the ids of all users who are typing in the channel, each time a user starts or stops typing.
    public func typingChanged() -> ChatStream<[String]> {
        events(of: ["typing.started", "typing.stopped"]) { event in
            guard case .array(let users) = AnyJSON(event.data)["typing_users"] else { return [] }
            return users.compactMap { $0.text("id") }
        }
    }
}

extension Channel {
    /// Calls `callback` with each message sent to the channel, including the user's own messages.
    public func onMessageReceived(_ callback: @escaping @Sendable (Message) -> Void) -> AutoCloseable {
        stream.messageReceived().listen { callback($0) }
    }

    /// Calls `callback` with each report of a message of the channel. The user must be a moderator of the channel.
    public func onMessageReported(_ callback: @escaping @Sendable (Report) -> Void) -> AutoCloseable {
        stream.messageReported().listen { callback($0) }
    }

    /// Calls `callback` with a receipt each time a member of the channel has read newer messages.
    public func onReadReceiptReceived(_ callback: @escaping @Sendable (ReadReceipt) -> Void) -> AutoCloseable {
        stream.readReceiptReceived().listen { callback($0) }
    }

    /// Calls `callback` with the ids of all present users, each time a user becomes present or stops being present.
    public func onPresenceChanged(_ callback: @escaping @Sendable ([String]) -> Void) -> AutoCloseable {
        stream.presenceChanged().listen { callback($0) }
    }

    /// Calls `callback` with the ids of all typing users, each time a user starts or stops typing.
    public func onTypingChanged(_ callback: @escaping @Sendable ([String]) -> Void) -> AutoCloseable {
        stream.typingChanged().listen { callback($0) }
    }
}

/// The events of a ``Message`` as sequences.
public struct MessageStreams: Sendable {
    let message: Message

    static let changes = ["message.updated", "message.deleted", "reaction.*", "action.*", "thread.updated"]

    /// Yields the message after each edit, deletion, reaction and reply. A message removed from history is marked as
    /// deleted.
    public func updated() -> ChatStream<Message> {
        let message = message
        return message.chat.events(of: Self.changes, on: [message.channelId]) { event in
            event.changedMessage == message.timetoken ? await event.changed(message) : nil
        }
    }
}

extension Event {
    /// The timetoken of the message that the event changes: by an edit, a deletion, a reaction, an action or a reply.
    /// Nil for other events.
    var changedMessage: Timetoken? {
        let data = AnyJSON(data)
        return data["message"]?.timetoken("timetoken") ?? data.timetoken("thread_of")
            ?? (data["reaction"] ?? data["action"])?.timetoken("message_timetoken")
    }

    /// Returns the message after the change that this event reports; nil when the message cannot be read now.
    func changed(_ message: Message) async -> Message? {
        if type == "message.updated" || type == "message.deleted", let shown = data.rawMember("message"),
            let state = MessageState(shown)
        {
            return Message(chat: message.chat, state)
        }
        return try? await message.channel.getMessage(timetoken: message.timetoken)
    }
}

extension Channel {
    /// Returns the ids of all present users. Requests one page after the other.
    fileprivate func everyonePresent() async throws(ChatError) -> [String] {
        var users: [String] = []
        var page: String?
        repeat {
            let found = try await whoIsPresent(page: page)
            users += found.userIds
            page = found.page
        } while page != nil
        return users
    }
}

extension Message {
    /// Calls `callback` with the message after each edit, deletion, reaction and reply. A message removed from history
    /// is marked as deleted.
    public func onUpdated(_ callback: @escaping @Sendable (Message) -> Void) -> AutoCloseable {
        stream.updated().listen { callback($0) }
    }
}
