import ChatCore
public import ChatKit
public import ChatModel
import JSON

extension EngineBackend {
    public func send(_ posting: OutgoingMessage, _ links: MessageReferences) async throws(ChatError) -> Timetoken {
        guard links != MessageReferences() else { return try await post(posting) }
        let tied = MessageLinks(quote: links.quote, threadOf: links.threadOf, mentions: links.mentioned)
        return try await access.post(draft(posting), tied).events[0].event.timetoken
    }

    public func message(_ timetoken: Timetoken, in channel: String) async throws(ChatError) -> MessageState? {
        do throws(ChatError) {
            return try await state(of: access.message(timetoken, in: channel))
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
    }

    public func messages(_ query: EventQuery) async throws(ChatError) -> Page<MessageState> {
        try states(of: try await access.messages(try request(query)))
    }

    public func replies(
        to timetoken: Timetoken, in channel: String, limit: Int, cursor: String?
    ) async throws(ChatError) -> Page<MessageState> {
        try states(
            of: try await access.replies(to: timetoken, in: channel, ChatCore.RecordList(limit: limit, cursor: cursor)))
    }

    public func edit(
        _ timetoken: Timetoken, in channel: String, _ content: EditedContent
    ) async throws(ChatError) -> MessageState {
        try state(of: try await access.edit(timetoken, in: channel, to: content.data, by: user))
    }

    public func delete(_ timetoken: Timetoken, in channel: String, isHard: Bool) async throws(ChatError) {
        try await access.delete(timetoken, in: channel, isHard: isHard, by: user)
    }

    public func react(_ value: String, to timetoken: Timetoken, in channel: String) async throws(ChatError) {
        _ = try await access.react(value, to: timetoken, in: channel, by: user)
    }

    public func removeReaction(_ value: String, from timetoken: Timetoken, in channel: String) async throws(ChatError) {
        _ = try await access.removeReaction(reaction: value, to: timetoken, in: channel, by: user)
    }

    public func reactions(
        to timetoken: Timetoken, in channel: String, cursor: String?
    ) async throws(ChatError) -> Page<Reaction> {
        let page = try await access.reactions(
            to: timetoken, in: channel, ChatCore.RecordList(limit: access.limits.pageMost, cursor: cursor))
        return Page(
            items: page.items.map { Reaction(value: $0.value, userId: $0.user, timetoken: $0.timetoken) },
            hasMore: page.hasMore, cursor: page.cursor)
    }

    public func addAction(
        _ type: String, _ value: String, to timetoken: Timetoken, in channel: String
    ) async throws(ChatError) -> MessageAction {
        MessageAction(try await access.addAction(type, value, to: timetoken, in: channel, by: user))
    }

    public func removeAction(
        _ place: Timetoken, from timetoken: Timetoken, in channel: String
    ) async throws(ChatError) {
        try await access.removeAction(place, from: timetoken, in: channel, by: user)
    }

    public func actions(of timetoken: Timetoken, in channel: String) async throws(ChatError) -> [MessageAction] {
        let page = try await access.actions(
            of: timetoken, in: channel, ChatCore.RecordList(limit: access.limits.pageMost))
        return page.items.map { MessageAction($0) }
    }

    public func pin(_ timetoken: Timetoken, in channel: String) async throws(ChatError) {
        try await access.pin(timetoken, in: channel, by: user)
    }

    public func unpin(_ timetoken: Timetoken, in channel: String) async throws(ChatError) {
        try await access.unpin(timetoken, in: channel, by: user)
    }

    public func forward(
        _ timetoken: Timetoken, in channel: String, to target: String
    ) async throws(ChatError) -> Timetoken {
        try await access.forward(timetoken, in: channel, to: target, by: user).events[0].event.timetoken
    }

    public func report(_ timetoken: Timetoken, in channel: String, reason: String) async throws(ChatError) {
        _ = try await access.report(timetoken, in: channel, for: reason, by: user)
    }

    public func reports(_ query: EventQuery) async throws(ChatError) -> Page<Event> {
        try await access.reports(try request(query), by: user)
    }

    private func states(of page: Page<ChatCore.Message>) throws(ChatError) -> Page<MessageState> {
        var states: [MessageState] = []
        for message in page.items { states.append(try state(of: message)) }
        return Page(items: states, hasMore: page.hasMore, position: page.position, cursor: page.cursor)
    }

    /// Converts a message through its JSON form, so that this backend and the backend for a gateway read messages in
    /// the same way.
    private func state(of message: ChatCore.Message) throws(ChatError) -> MessageState {
        guard let state = MessageState(JSONText(capacity: 512) { message.print(to: &$0) }) else {
            throw ChatError(.notFound, "no message has this timetoken")
        }
        return state
    }
}

extension MessageReferences {
    fileprivate var mentioned: MessageLinks.Mentions? {
        if mentionsEverybody { return .channel }
        return mentions.isEmpty ? nil : .users(mentions)
    }
}

extension EditedContent {
    fileprivate var data: MessageContent {
        switch self {
        case .text(let text): .text(JSONText(string: text))
        case .all(let value): .data(value.text)
        }
    }
}

extension MessageAction {
    fileprivate init(_ record: MessageActionRecord) {
        self.init(type: record.type, value: record.value, userId: record.user, timetoken: record.timetoken)
    }
}
