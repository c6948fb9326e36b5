import ChatKit
import ChatModel
import ChatRemote

extension PubNub {
    /// Reads the stored messages of channels. The messages of each channel are in ascending order of time.
    ///
    /// A message contains its current content. Its actions include edits and deletions.
    ///
    /// - Parameters:
    ///   - channels: the names of at most 500 channels.
    ///   - includeActions: true adds the actions of the messages. Reading the actions takes one request for each
    ///     message.
    ///   - includeMeta: true adds the metadata.
    ///   - includeUUID: true adds the sender.
    ///   - includeMessageType: has no effect. Every message has its type.
    ///   - includeCustomMessageType: true adds the label.
    ///   - page: the bounds, and the maximum number of messages for each channel. Without `page`, the maximum is 100
    ///     for one channel without actions and 25 otherwise.
    ///   - completion: receives the messages by channel, and the next older page; nil when there are no older messages.
    public func fetchMessageHistory(
        for channels: [String], includeActions: Bool = false, includeMeta: Bool = false, includeUUID: Bool = true,
        includeMessageType: Bool = true, includeCustomMessageType: Bool = false,
        page: (any PubNubBoundedPage)? = nil, custom requestConfig: RequestConfiguration = RequestConfiguration(),
        completion: (
            (Result<(messagesByChannel: [String: [any PubNubMessage]], next: (any PubNubBoundedPage)?), any Error>) ->
                Void
        )?
    ) {
        run(requestConfig, completion) { backend in
            guard (1...500).contains(channels.count) else {
                throw PubNubError(
                    .invalidArguments, details: ["a history request must name 1 to 500 channels; got \(channels.count)"]
                )
            }
            let limit = page?.limit ?? (channels.count > 1 || includeActions ? 25 : 100)
            var found: [String: [any PubNubMessage]] = [:]
            var oldest: UInt64?
            for channel in channels {
                var query = EventQuery(channel: channel)
                query.before = page?.start.map { ChatModel.Timetoken($0) } ?? .distantFuture
                query.after = page?.end.map { ChatModel.Timetoken(max($0, 1) - 1) } ?? .zero
                query.limit = limit
                let states = try await backend.messages(query)
                var messages: [any PubNubMessage] = []
                for state in states.items.reversed() {
                    var message = PubNubMessageBase(state)
                    if !includeMeta { message.metadata = nil }
                    if !includeUUID { message.publisher = nil }
                    if !includeCustomMessageType { message.customMessageType = nil }
                    if includeActions { message.actions = try await backend.messageActions(of: state) }
                    messages.append(message)
                }
                if !messages.isEmpty { found[channel] = messages }
                if states.hasMore, let last = states.items.last?.timetoken.rawValue {
                    oldest = max(oldest ?? 0, last)
                }
            }
            let next = oldest.flatMap { PubNubBoundedPageBase(start: $0, end: page?.end, limit: page?.limit) }
            return (messagesByChannel: found, next: next)
        }
    }

    /// Deletes the stored events of a channel permanently. Requires an API key with the scope `manage`.
    ///
    /// - Parameters:
    ///   - start: the lower bound of the timetokens, exclusive; nil for no bound.
    ///   - end: the upper bound of the timetokens, inclusive; nil for no bound.
    public func deleteMessageHistory(
        from channel: String, start: Timetoken? = nil, end: Timetoken? = nil,
        custom requestConfig: RequestConfiguration = RequestConfiguration(),
        completion: ((Result<Void, any Error>) -> Void)?
    ) {
        run(requestConfig, completion) { backend in
            try await backend.deleteHistory(
                of: channel, after: start.map { ChatModel.Timetoken($0) },
                before: end.map { ChatModel.Timetoken($0 + 1) })
        }
    }

    /// Counts the stored messages of several channels. Each channel has its own timetoken; only later messages are
    /// counted.
    public func messageCounts(
        channels: [String: Timetoken], custom requestConfig: RequestConfiguration = RequestConfiguration(),
        completion: ((Result<[String: Int], any Error>) -> Void)?
    ) {
        run(requestConfig, completion) { backend in
            var counts: [String: Int] = [:]
            for (channel, timetoken) in channels {
                var query = EventQuery(channel: channel)
                query.after = ChatModel.Timetoken(timetoken).ifOfSeventeenDigits ?? .zero
                query.types = [BuiltInTypes.messageCreated]
                counts[channel] = try await backend.count(query)
            }
            return counts
        }
    }

    /// Counts the stored messages of several channels that are later than one timetoken. The timetoken 1 counts all
    /// messages.
    public func messageCounts(
        channels: [String], timetoken: Timetoken = 1,
        custom requestConfig: RequestConfiguration = RequestConfiguration(),
        completion: ((Result<[String: Int], any Error>) -> Void)?
    ) {
        let positions = Dictionary(channels.map { ($0, timetoken) }, uniquingKeysWith: { first, _ in first })
        messageCounts(channels: positions, custom: requestConfig, completion: completion)
    }
}

extension ChatModel.Timetoken {
    /// This timetoken as a `ChatModel` timetoken if it has 17 digits; otherwise nil.
    var ifOfSeventeenDigits: ChatModel.Timetoken? { ChatModel.Timetoken(exactly: "\(rawValue)") }
}
