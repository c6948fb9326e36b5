public import ChatModel
public import JSON

/// The current state of a message: the fields as they were sent, and the changes made since.
public struct MessageState: Sendable {
    /// The timetoken, which is the message's id in its channel and the time at which it was sent.
    public var timetoken: Timetoken
    /// The name of the channel.
    public var channel: String
    /// The id of the author; nil when the gateway or an API key without a user sent the message.
    public var user: String?
    /// The payload after all edits; null when the message is deleted.
    public var data: AnyJSON
    /// The metadata that was sent with the message; nil for none.
    public var meta: AnyJSON?
    /// The label that was sent with the message; nil for none.
    public var customType: String?
    /// The time of the last edit; nil when the message was not edited.
    public var edited: Timetoken?
    /// The time of the soft deletion; nil when the message is not deleted.
    public var deleted: Timetoken?
    /// The timetoken of the message that this message replies to; nil when it is not a reply.
    public var threadOf: Timetoken?
    /// The number of replies.
    public var replies: Int
    /// The number of users who reacted with each value.
    public var reactions: [String: Int]

    /// Creates the state of a message without changes.
    public init(
        timetoken: Timetoken, channel: String, user: String?, data: AnyJSON, meta: AnyJSON? = nil,
        customType: String? = nil, threadOf: Timetoken? = nil
    ) {
        self.timetoken = timetoken
        self.channel = channel
        self.user = user
        self.data = data
        self.meta = meta
        self.customType = customType
        self.threadOf = threadOf
        replies = 0
        reactions = [:]
    }

    /// Reads a message in the JSON form of the native API. Returns nil for other JSON.
    public init?(_ text: JSONText) {
        let message = AnyJSON(text)
        guard let timetoken = message.timetoken("timetoken"), let channel = message.text("channel") else { return nil }
        self.timetoken = timetoken
        self.channel = channel
        user = message.text("user")
        data = message["data"] ?? .null
        meta = message["meta"].flatMap { $0 == .null ? nil : $0 }
        customType = message.text("custom_type")
        edited = message["edited"]?.timetoken("timetoken")
        deleted = message["deleted"]?.timetoken("timetoken")
        threadOf = message.timetoken("thread_of")
        replies = message["thread"]?.count("reply_count") ?? 0
        reactions = (message["reactions"]?.members ?? [:]).compactMapValues { count in
            if case .integer(let number) = count { Int(number) } else { nil }
        }
    }

    /// Creates the state of a message, without later changes, from its event.
    init(_ event: Event) {
        let meta = event.meta.map { AnyJSON($0) }
        self.init(
            timetoken: event.timetoken, channel: event.channel.name, user: event.user, data: AnyJSON(event.data),
            meta: meta, customType: event.customType, threadOf: meta?.timetoken("threadOf"))
    }
}

extension AnyJSON {
    func count(_ name: String) -> Int { if case .integer(let value) = self[name] { Int(value) } else { 0 } }
}
