public import ChatModel

/// A channel as one user of the chat sees it. A value: what is done to the channel shows in the next one that is read.
public struct Channel: Sendable, Identifiable {
    public let chat: Chat
    public let id: String
    public let name: String?
    public let description: String?
    /// Values of the app's own.
    public let custom: [String: any JSONCodable]
    public let status: String?
    /// `unknown` when the channel has no record, or none was asked for.
    public let type: ChannelType
    public let coverUrl: String?
    /// A value of any kind that the app keeps with the channel.
    public let data: AnyJSON?
    public let customType: String?
    public let isFrozen: Bool
    /// Whether creating a distinct conversation of its members returns this one.
    public let isDistinct: Bool
    /// The users who moderate it.
    public let operators: [String]
    /// The message that is shown first, if one is pinned.
    public let pinnedMessageTimetoken: Timetoken?
    /// When it changed last; zero without a record.
    public let updated: Timetoken
    public let eTag: String

    init(chat: Chat, id: String) { self.init(chat: chat, id: id, nil) }

    init(chat: Chat, _ record: ChannelRecord) { self.init(chat: chat, id: record.id, record) }

    private init(chat: Chat, id: String, _ record: ChannelRecord?) {
        self.chat = chat
        self.id = id
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

    /// Sequences of what happens in the channel; for each there is an `on…` with a closure.
    public var stream: ChannelStreams { ChannelStreams(channel: self) }
}

extension Channel {
    /// Changes what is given, keeps the rest, and returns the channel as it is then.
    public func update(
        name: String? = nil, custom: [String: any JSONCodable]? = nil, description: String? = nil,
        status: String? = nil, coverUrl: String? = nil, customType: String? = nil
    ) async throws(ChatError) -> Channel {
        let fields = ChannelFields(
            name: name, custom: custom, description: description, status: status, coverUrl: coverUrl,
            customType: customType)
        return Channel(chat: chat, try await chat.backend.update(channel: id, fields, eTag: nil))
    }

    /// Deletes the channel's record and its memberships. Its events stay.
    public func delete() async throws(ChatError) { try await chat.backend.delete(channel: id) }
}

extension ChannelFields {
    init(
        name: String?, custom: [String: any JSONCodable]?, description: String?, status: String?, coverUrl: String?,
        customType: String?
    ) {
        self.init()
        self.name = name
        self.custom = custom?.object
        self.description = description
        self.status = status
        coverURL = coverUrl
        self.customType = customType
    }
}
