public import ChatModel

/// A channel as the chat's user sees it. A `Channel` is a value and does not change: read the channel again to see
/// changes.
public struct Channel: Sendable, Identifiable {
    public let chat: Chat
    public let id: String
    /// The name for display; nil for none.
    public let name: String?
    public let description: String?
    /// The app's own data, a JSON object.
    public let custom: [String: any JSONCodable]
    /// A status that the app defines, as free text.
    public let status: String?
    /// The type of the channel; `unknown` when the channel has no record or the record was not read.
    public let type: ChannelType
    /// The address of a picture.
    public let coverUrl: String?
    /// The app's own data, any JSON value.
    public let data: AnyJSON?
    /// A label for grouping channels.
    public let customType: String?
    /// True when only moderators may write.
    public let isFrozen: Bool
    /// True for a distinct channel: creating a distinct conversation with the same members returns this channel.
    public let isDistinct: Bool
    /// The ids of the channel's moderators.
    public let operators: [String]
    /// The timetoken of the pinned message; nil for none.
    public let pinnedMessageTimetoken: Timetoken?
    /// The time of the last change; zero for a channel without a record.
    public let updated: Timetoken
    /// The version of the record, for updates that require this version.
    public let eTag: String
    /// The number of members, including invited ones. Nil for an open channel, and when the channel was not read.
    public let memberCount: Int?
    /// The number of members who have joined. Nil for an open channel, and when the channel was not read.
    public let joinedMemberCount: Int?
    /// The number of users in the open channel. Set only in a delegate call that reports a new number; otherwise nil.
    public internal(set) var participantCount: Int?
    /// The newest message. Set only in a delegate call that reports it; otherwise nil.
    public internal(set) var lastMessage: Message?
    /// The number of unread messages of the chat's user. Set only in a delegate call that reports it; otherwise nil.
    public internal(set) var unreadMessageCount: Int?

    /// Creates a channel without its record.
    public init(chat: Chat, id: String) { self.init(chat: chat, id: id, nil) }

    /// Creates a channel from its record, for example in a test.
    public init(chat: Chat, _ state: ChannelState) { self.init(chat: chat, id: state.record.id, state) }

    private init(chat: Chat, id: String, _ state: ChannelState?) {
        let record = state?.record
        self.chat = chat
        self.id = id
        memberCount = state?.memberCount
        joinedMemberCount = state?.joinedMemberCount
        name = record?.name
        description = record?.description
        custom = record?.custom.map { AnyJSON($0).members } ?? [:]
        status = record?.status
        type = ChannelType(record?.kind.rawValue)
        coverUrl = record?.coverURL
        data = record?.data.map { AnyJSON($0) }
        customType = record?.customType
        isFrozen = record?.isFrozen ?? false
        isDistinct = record?.isDistinct ?? false
        operators = record?.operators ?? []
        pinnedMessageTimetoken = record.flatMap { $0.pinned == .zero ? nil : $0.pinned }
        updated = record?.updated ?? .zero
        eTag = record?.etag ?? ""
    }

    /// The channel's events as sequences. For each sequence there is also an `on…` method with a closure.
    public var stream: ChannelStreams { ChannelStreams(channel: self) }
}

extension Channel {
    /// Changes the given fields. Returns the changed channel. A nil field does not change.
    ///
    /// - Throws: `.notFound` when the channel has no record; `.forbidden` when the user may not change it; `.malformed`
    ///   or `.tooLarge` for an invalid field; the errors common to all calls (see ``Chat``).
    public func update(
        name: String? = nil, custom: [String: any JSONCodable]? = nil, description: String? = nil,
        status: String? = nil, coverUrl: String? = nil, customType: String? = nil
    ) async throws(ChatError) -> Channel {
        let fields = try ChannelFields(
            name: name, custom: custom, description: description, status: status, coverUrl: coverUrl,
            customType: customType)
        return Channel(chat: chat, try await chat.backend.update(channel: id, fields, eTag: nil))
    }

    /// Deletes the channel's record and its memberships, but not the channel's events.
    ///
    /// - Throws: `.forbidden` when the user may not delete the channel; the errors common to all calls (see ``Chat``).
    public func delete() async throws(ChatError) { try await chat.backend.delete(channel: id) }
}

extension ChannelFields {
    init(
        name: String?, custom: [String: any JSONCodable]?, description: String?, status: String?, coverUrl: String?,
        customType: String?
    ) throws(ChatError) {
        self.init()
        self.name = name
        self.custom = try custom?.encodedObject()
        self.description = description
        self.status = status
        coverURL = coverUrl
        self.customType = customType
    }
}
