public import ChatModel

/// The presence and typing operations of a ``ChatBackend``. Changes apply to the backend's user.
public protocol PresenceBackend: Sendable {
    /// Sets whether the backend's user is typing in a channel.
    func setTyping(_ isTyping: Bool, in channel: String) async throws(ChatError)
    /// Returns a page of the ids of the users who are typing in a channel. The page's `total` counts all of them.
    func typists(of channel: String, limit: Int, cursor: String?) async throws(ChatError) -> Page<String>

    /// Marks the backend's user as present in a channel.
    ///
    /// - Parameters:
    ///   - seconds: the number of seconds until the presence ends; nil selects the gateway's default.
    ///   - state: the new state of the user in the channel; nil leaves the state unchanged.
    func appear(in channel: String, for seconds: Int?, state: AnyJSON?) async throws(ChatError)
    /// Ends the presence of the backend's user in a channel.
    func disappear(from channel: String) async throws(ChatError)
    /// Replaces the presence state of the backend's user in a channel.
    func show(_ state: AnyJSON, in channel: String) async throws(ChatError)
    /// Returns a page of the users who are present in a channel, ordered by id. The page's `total` counts all of them.
    func present(in channel: String, limit: Int, cursor: String?) async throws(ChatError) -> Page<PresentUser>
    /// Returns the presence of a user, or nil when the user is not present.
    func presence(of user: String, in channel: String) async throws(ChatError) -> PresentUser?
    /// Returns the channels in which a user is present.
    func presentChannels(of user: String) async throws(ChatError) -> [String]

    /// Enters an open channel.
    ///
    /// - Returns: the number of users who are now in the channel.
    func enter(_ channel: String) async throws(ChatError) -> Int
    /// Leaves an open channel.
    func exit(_ channel: String) async throws(ChatError)
    /// Returns a page of the users in an open channel, ordered by id. The page's `total` counts all of them.
    func participants(of channel: String, limit: Int, cursor: String?) async throws(ChatError) -> Page<String>
}

/// A user who is present in a channel.
public struct PresentUser: Sendable, Equatable {
    /// The user's id.
    public let userId: String
    /// The user's state in the channel; an empty object when the user has set none.
    public let state: AnyJSON

    /// Creates a present user with a state.
    public init(userId: String, state: AnyJSON) {
        self.userId = userId
        self.state = state
    }
}

/// The service that a ``Chat`` uses: an engine in this process, or a gateway over HTTP.
///
/// Every public call of the library uses this protocol, so that both services behave alike. Its types come from
/// `ChatModel`.
public protocol ChatBackend: RecordBackend, MessageBackend, ModerationBackend, PresenceBackend, ReceiptBackend,
    ValueBackend, GroupBackend
{
    /// The id of the user who performs every operation.
    var user: String { get }

    /// Returns a backend that uses the same service for another user. Closing one of the two backends also closes the
    /// other.
    func acting(as user: String) -> any ChatBackend

    /// Publishes an event in a channel. When the call returns, a stored event is durable, and an ephemeral event has
    /// been delivered to the live streams.
    func post(_ posting: OutgoingMessage) async throws(ChatError) -> Timetoken

    /// Returns a page of a channel's stored events.
    func history(_ query: EventQuery) async throws(ChatError) -> Page<Event>

    /// Returns the number of events that `history` would return on all pages.
    func count(_ query: EventQuery) async throws(ChatError) -> Int

    /// Returns the live events of a selection, starting now or at the position `since`.
    func events(_ selection: EventSelection) -> LiveEvents

    /// Closes all connections and listeners. Idempotent.
    func close() async
}

/// A query for a page of a channel's stored events.
public struct EventQuery: Sendable {
    /// The name of the channel.
    public var channel: String
    /// The lower bound of the timetokens, exclusive.
    public var after = Timetoken.zero
    /// The upper bound of the timetokens, exclusive.
    public var before = Timetoken.distantFuture
    /// The direction of reading.
    public var order = HistoryRequest.Order.newestFirst
    /// The maximum number of events on a page.
    public var limit = 50
    /// The names and patterns of event types; empty selects every type.
    public var types: [String] = []

    /// Creates a query for the newest 50 events of a channel.
    public init(channel: String) { self.channel = channel }
}

/// A selection of live events.
public struct EventSelection: Sendable, Hashable {
    /// The names and patterns (`a.*`) of channels. When `channels` and `groups` are both empty, a device receives the
    /// events for its user, and any other reader receives all events that it may read.
    public var channels: [String] = []
    /// The names of channel groups. When the channels of a group change, the selection changes with them.
    public var groups: [String] = []
    /// The names and patterns of event types; empty selects every type.
    public var types: [String] = []
    /// An expression in the filter language (docs/filters.md), such as `data.amount > 100`; nil for no filter.
    public var filter: String?
    /// The objects to include with each event.
    public var include: Set<IncludedObject> = []
    /// True when the `presence.*` events are included.
    public var hasPresence = false
    /// The position in the event log after which the events start; nil starts with new events.
    public var since: Timetoken?
    /// True when the reader is a device of the user. A device receives only events whose audience includes the user.
    public var isDevice = false

    /// Creates a selection that starts with new events and has no filter.
    public init(channels: [String] = [], types: [String] = []) {
        self.channels = channels
        self.types = types
    }
}

/// The channel group operations of a ``ChatBackend``.
public protocol GroupBackend: Sendable {
    /// Returns a group, or nil when it does not exist.
    func group(_ id: String) async throws(ChatError) -> GroupRecord?
    /// Returns a page of the names of all groups, in ascending order.
    func groups(limit: Int, cursor: String?) async throws(ChatError) -> Page<String>
    /// Adds channels to a group and removes channels from it. Creates the group when it does not exist.
    func change(group id: String, adding: [String], removing: [String]) async throws(ChatError)
    /// Deletes a group, but not its channels.
    func delete(group id: String) async throws(ChatError)
}

/// An update of the live events of a selection.
public enum LiveUpdate: Sendable {
    /// The connection is open: every event after the position follows. When `hasGap` is true, earlier events were lost.
    case connected(at: Timetoken, hasGap: Bool)
    /// At least one event. A later selection can continue with `cursor` as its `since`.
    case events([LiveEvent], cursor: Timetoken)
    /// The channels of a selected channel group have changed. The value contains the names of all channels whose events
    /// the selection includes from now on.
    case channelsChanged([String])
    /// The connection was lost. The client reconnects and continues after the last event.
    case interrupted(ChatError)
}

/// The live events of a selection. The connection opens when the iterator is created or at the first `next`, and closes
/// when the iterator is released.
///
/// The sequence ends when the chat is closed. It throws an error when the connection cannot continue, for example
/// because the user may not read the channel.
public struct LiveEvents: AsyncSequence, Sendable {
    /// An event or a change of the connection.
    public typealias Element = LiveUpdate
    /// The error that ends the sequence.
    public typealias Failure = ChatError
    /// Returns the next update, or nil at the end.
    public typealias Next = @Sendable () async throws(ChatError) -> LiveUpdate?

    private let open: @Sendable () -> Next

    /// Creates a sequence from a function that opens connections.
    ///
    /// - Parameter open: called once for each iterator. Returns the function that the iterator calls for each update.
    public init(_ open: @escaping @Sendable () -> Next) { self.open = open }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(nextUpdate: open()) }

    /// Reads the updates. Each iterator has its own connection.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let nextUpdate: Next

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(ChatError) -> LiveUpdate? {
            try await nextUpdate()
        }
    }
}

/// The moderation operations of a ``ChatBackend``, and each user's block list.
public protocol ModerationBackend: Sendable {
    /// Bans or mutes a user in a channel, and replaces the user's current restriction. When `ban` and `mute` are both
    /// false, the restriction ends.
    ///
    /// - Parameter until: the time at which the restriction ends; nil for no end.
    func restrict(
        _ user: String, in channel: String, ban: Bool, mute: Bool, reason: String?, until: Timetoken?
    ) async throws(ChatError)
    /// Returns the restriction of a user in a channel, or nil when there is none.
    func restriction(of user: String, in channel: String) async throws(ChatError) -> RestrictionRecord?
    /// Returns a page of all restrictions in a channel.
    func restrictions(
        in channel: String, limit: Int, cursor: String?
    ) async throws(ChatError) -> Page<RestrictionRecord>
    /// Returns a page of a user's restrictions in all channels.
    func restrictions(of user: String, limit: Int, cursor: String?) async throws(ChatError) -> Page<RestrictionRecord>
    /// Freezes or unfreezes a channel. Only moderators may write in a frozen channel.
    func freeze(_ channel: String, _ isFrozen: Bool) async throws(ChatError)
    /// Changes a user's role in a channel: moderator or ordinary member.
    func appoint(_ user: String, in channel: String, _ role: MemberRole) async throws(ChatError)

    /// Blocks a user: the backend's user receives no further events from that user.
    func block(_ user: String) async throws(ChatError)
    /// Unblocks a user.
    func unblock(_ user: String) async throws(ChatError)
    /// Returns a page of the users whom the backend's user has blocked.
    func blocks(limit: Int, cursor: String?) async throws(ChatError) -> Page<String>
}

/// The operations of a ``ChatBackend`` on read marks, delivery marks and unread counts.
public protocol ReceiptBackend: Sendable {
    /// Moves a mark of the backend's user in a channel forward.
    ///
    /// - Parameter timetoken: the timetoken of the newest message that the user read or received; nil selects the
    ///   channel's newest message.
    func mark(
        _ mark: ReceiptMark, of user: String, in channel: String, at timetoken: Timetoken?
    ) async throws(ChatError)
    /// Marks all channels as read. Returns the channels that had unread messages.
    func markAllRead() async throws(ChatError) -> [String]
    /// Returns the number of messages that a user has not read in a channel.
    func unread(of user: String, in channel: String) async throws(ChatError) -> Int
    /// Returns the unread count of the backend's user over all channels.
    func unread() async throws(ChatError) -> UnreadCount
}

/// A mark of a member of a channel. `delivered` is the newest message that a device of the member has received, and
/// `read` is the newest message that the member has read.
public enum ReceiptMark: Sendable { case delivered, read }

/// The number of messages that a user has not read.
public struct UnreadCount: Sendable, Equatable {
    /// The count over all channels.
    public let total: Int
    /// The counts by the custom type of the channels. Channels without a custom type count only in `total`.
    public let byCustomType: [String: Int]

    /// Creates a count, for example in a test.
    public init(total: Int, byCustomType: [String: Int]) {
        self.total = total
        self.byCustomType = byCustomType
    }
}

/// The operations of a ``ChatBackend`` on the metadata (texts by key) and the counters of channels. Each writing
/// operation returns the values that it wrote.
public protocol ValueBackend: Sendable {
    /// Returns the metadata of a channel.
    func metadata(of channel: String) async throws(ChatError) -> [String: String]
    /// Adds metadata to a channel.
    ///
    /// - Throws: `.conflict` when one of the keys already exists.
    func create(metadata: [String: String], of channel: String) async throws(ChatError) -> [String: String]
    /// Changes the metadata of a channel.
    ///
    /// - Parameter adding: true also adds keys that do not exist; false ignores them.
    func update(
        metadata: [String: String], adding: Bool, of channel: String
    ) async throws(ChatError) -> [String: String]
    /// Deletes one key of the metadata of a channel, or all keys.
    ///
    /// - Parameter key: the key to delete; nil deletes all keys.
    func delete(metadata key: String?, of channel: String) async throws(ChatError)

    /// Returns the counters of a channel, by key.
    func counters(of channel: String) async throws(ChatError) -> [String: Int]
    /// Adds counters to a channel.
    ///
    /// - Throws: `.conflict` when one of the keys already exists.
    func create(counters: [String: Int], of channel: String) async throws(ChatError) -> [String: Int]
    /// Sets, increases or decreases counters of a channel.
    ///
    /// - Parameter adding: true also adds keys that do not exist, starting at 0; false ignores them.
    func update(
        counters: [String: Int], _ change: CounterChange, adding: Bool, of channel: String
    ) async throws(ChatError) -> [String: Int]
    /// Deletes one counter of a channel, or all counters.
    ///
    /// - Parameter key: the key to delete; nil deletes all keys.
    func delete(counter key: String?, of channel: String) async throws(ChatError)
}

/// The operation that changes a counter by a number.
public enum CounterChange: Sendable { case set, increase, decrease }
