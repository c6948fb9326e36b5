import ChatModel

extension ChannelStreams {
    /// Messages sent to the channel, the user's own too.
    public func messageReceived() -> ChatStream<Message> {
        let chat = channel.chat
        return events(of: ["message.created"]) { Message(chat: chat, MessageState($0)) }
    }

    /// Messages of the channel that are reported; for those who moderate it.
    public func messageReported() -> ChatStream<Report> {
        channel.chat.events(of: ["report.created"], on: ["PUBNUB_INTERNAL_MODERATION_" + channel.id]) {
            Report(AnyJSON($0.data))
        }
    }

    /// What members of the channel have read.
    public func readReceiptReceived() -> ChatStream<ReadReceipt> {
        events(of: ["receipt.read"]) { ReadReceipt($0, AnyJSON($0.data)) }
    }

    /// Who is present on the channel, by name, after each coming and going; of many the first 250.
    public func presenceChanged() -> ChatStream<[String]> {
        let channel = channel
        var selection = EventSelection(channels: [channel.id], types: ["presence.*"])
        selection.hasPresence = true
        return ChatStream(chat: channel.chat, selection: selection) { event in
            guard event.type != "presence.state_changed" else { return [] }
            // Read again: the event says who came or went, and the listener wants all of them.
            return (try? await channel.whoIsPresent()).map { [$0.userIds] } ?? []
        }
    }

    /// Everybody who types in the channel, after each change.
    public func typingChanged() -> ChatStream<[String]> {
        events(of: ["typing.started", "typing.stopped"]) { event in
            guard case .array(let users) = AnyJSON(event.data)["typing_users"] else { return [] }
            return users.compactMap { $0.text("id") }
        }
    }
}

extension Channel {
    public func onMessageReceived(_ callback: @escaping @Sendable (Message) -> Void) -> AutoCloseable {
        stream.messageReceived().listen { callback($0) }
    }

    public func onMessageReported(_ callback: @escaping @Sendable (Report) -> Void) -> AutoCloseable {
        stream.messageReported().listen { callback($0) }
    }

    public func onReadReceiptReceived(_ callback: @escaping @Sendable (ReadReceipt) -> Void) -> AutoCloseable {
        stream.readReceiptReceived().listen { callback($0) }
    }

    public func onPresenceChanged(_ callback: @escaping @Sendable ([String]) -> Void) -> AutoCloseable {
        stream.presenceChanged().listen { callback($0) }
    }

    public func onTypingChanged(_ callback: @escaping @Sendable ([String]) -> Void) -> AutoCloseable {
        stream.typingChanged().listen { callback($0) }
    }
}

/// The sequences of a ``Message``.
public struct MessageStreams: Sendable {
    let message: Message

    /// The message as it is after each edit, deletion, reaction and reply.
    public func updated() -> ChatStream<Message> {
        let message = message
        let types = ["message.updated", "message.deleted", "reaction.*", "action.*", "thread.updated"]
        return message.chat.events(of: types, on: [message.channelId]) { event in
            let data = AnyJSON(event.data)
            let timetoken =
                data["message"]?.timetoken("timetoken") ?? data.timetoken("thread_of")
                ?? (data["reaction"] ?? data["action"])?.timetoken("message_timetoken")
            guard timetoken == message.timetoken else { return nil }
            return try? await message.channel.getMessage(timetoken: message.timetoken)
        }
    }
}

extension Message {
    public func onUpdated(_ callback: @escaping @Sendable (Message) -> Void) -> AutoCloseable {
        stream.updated().listen { callback($0) }
    }
}
