public import ChatModel

/// The presence and typing operations of a ``ChatBackend``. Operations that set something do so for the backend's user.
public protocol PresenceBackend: Sendable {
    /// Starts or ends the typing of the backend's user in a channel.
    func setTyping(_ isTyping: Bool, in channel: String) async throws(ChatError)
    /// Returns a page of the ids of the users who are typing. The page's total is the number of all of them.
    func typists(of channel: String, limit: Int, cursor: String?) async throws(ChatError) -> Page<String>

    /// Marks the backend's user as present in a channel.
    ///
    /// - Parameters:
    ///   - seconds: how long the call counts; nil selects the gateway's default.
    ///   - state: the user's state in the channel; nil keeps the current one.
    func appear(in channel: String, for seconds: Int?, state: AnyJSON?) async throws(ChatError)
    /// Ends the presence of the backend's user in a channel.
    func disappear(from channel: String) async throws(ChatError)
    /// Replaces the state of the backend's user in a channel.
    func show(_ state: AnyJSON, in channel: String) async throws(ChatError)
    /// Returns a page of the present users, ordered by id. The page's total is the number of all of them.
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
    /// Returns a page of the users in an open channel, ordered by id. The page's total is the number of all of them.
    func participants(of channel: String, limit: Int, cursor: String?) async throws(ChatError) -> Page<String>
}

/// A user who is present in a channel.
public struct PresentUser: Sendable, Equatable {
    /// The user's id.
    public let userId: String
    /// The user's state in the channel; an empty object when the user has set none.
    public let state: AnyJSON

    /// A present user with a state.
    public init(userId: String, state: AnyJSON) {
        self.userId = userId
        self.state = state
    }
}

/// The service behind a ``Chat``: an engine in this process, or a gateway over HTTP.
///
/// The protocol uses the types of `ChatModel`. Every public call of the library goes through it, so that both backends
/// behave alike.
public protocol ChatBackend: RecordBackend, MessageBackend, ModerationBackend, PresenceBackend, ReceiptBackend,
    ValueBackend, GroupBackend
{
    /// The id of the acting user. Every operation is done in this user's name.
    var user: String { get }

    /// Returns the same service for another user. Closing either closes both.
    func acting(as user: String) -> any ChatBackend

    /// Publishes an event in a channel. A stored event is durable when this returns; an ephemeral one has been
    /// delivered to the live streams.
    func post(_ posting: OutgoingMessage) async throws(ChatError) -> Timetoken

    /// Returns a page of a channel's stored events.
    func history(_ query: EventQuery) async throws(ChatError) -> Page<Event>

    /// Returns the number of stored events that `history` would return over all pages.
    func count(_ query: EventQuery) async throws(ChatError) -> Int

    /// Returns the live events of a selection, from now on or from a position on.
    func events(_ selection: EventSelection) -> LiveEvents

    /// Closes everything that is open. Idempotent.
    func close() async
}

/// A selection of stored events of a channel.
public struct EventQuery: Sendable {
    /// The name of the channel.
    public var channel: String
    /// The lower bound, exclusive.
    public var after = Timetoken.zero
    /// The upper bound, exclusive.
    public var before = Timetoken.distantFuture
    /// The direction of reading.
    public var order = HistoryRequest.Order.newestFirst
    /// The maximum number of events on a page.
    public var limit = 50
    /// The names and patterns of event types; empty selects every type.
    public var types: [String] = []

    /// The newest 50 events of a channel.
    public init(channel: String) { self.channel = channel }
}

/// A selection of live events.
public struct EventSelection: Sendable, Hashable {
    /// The names and patterns (`a.*`) of channels. When `groups` is empty too, a device receives the events that
    /// concern its user, and any other reader receives everything it may read.
    public var channels: [String] = []
    /// Channel groups. Changes of a group's channels take effect while the selection is followed.
    public var groups: [String] = []
    /// The names and patterns of event types; empty selects every type.
    public var types: [String] = []
    /// An expression in the filter language (docs/filters.md): `data.amount > 100`.
    public var filter: String?
    /// The objects that are read beside each event.
    public var include: Set<IncludedObject> = []
    /// True when the `presence.*` events are included.
    public var hasPresence = false
    /// The position behind which the events start; nil starts with new events.
    public var since: Timetoken?
    /// True when the reader is a device of the user. A device receives only the events whose audience includes its
    /// user.
    public var isDevice = false

    /// A selection without a filter that starts with new events.
    public init(channels: [String] = [], types: [String] = []) {
        self.channels = channels
        self.types = types
    }
}

/// The channel group operations of a ``ChatBackend``.
public protocol GroupBackend: Sendable {
    /// Returns a group, or nil when it does not exist.
    func group(_ id: String) async throws(ChatError) -> GroupRecord?
    /// Returns a page of the names of all groups, in order.
    func groups(limit: Int, cursor: String?) async throws(ChatError) -> Page<String>
    /// Adds channels to a group and removes others. A missing group is created.
    func change(group id: String, adding: [String], removing: [String]) async throws(ChatError)
    /// Deletes a group. Its channels stay.
    func delete(group id: String) async throws(ChatError)
}

/// An update from a followed selection.
public enum LiveUpdate: Sendable {
    /// The connection is open: every event behind the position follows. When `hasGap` is true, earlier events are lost.
    case connected(at: Timetoken, hasGap: Bool)
    /// At least one event. A later selection can continue behind the cursor.
    case events([LiveEvent], cursor: Timetoken)
    /// The channels of a followed group have changed. The names are those that are followed from now on.
    case channelsChanged([String])
    /// The connection is lost. It is made again, from the position where it was lost.
    case interrupted(ChatError)
}

/// The live events of a selection. The connection opens when the iterator is made or at the first `next`, and closes
/// when the iterator is released.
///
/// The sequence ends when the chat is closed. It throws when the selection cannot be followed at all, for example
/// because the user may not read the channel.
public struct LiveEvents: AsyncSequence, Sendable {
    /// An event or a change of the connection.
    public typealias Element = LiveUpdate
    /// The error that ends the sequence.
    public typealias Failure = ChatError
    /// Returns the next update, or nil at the end.
    public typealias Next = @Sendable () async throws(ChatError) -> LiveUpdate?

    private let open: @Sendable () -> Next

    /// - Parameter open: called once per iterator. The returned function returns one update at each call.
    public init(_ open: @escaping @Sendable () -> Next) { self.open = open }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(nextUpdate: open()) }

    /// Reads the updates over a connection of its own.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let nextUpdate: Next

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(ChatError) -> LiveUpdate? {
            try await nextUpdate()
        }
    }
}

/// The moderation operations of a ``ChatBackend``, and each user's block list.
public protocol ModerationBackend: Sendable {
    /// Bans or mutes a user in a channel. The new restriction replaces the current one. When `ban` and `mute` are both
    /// false, the restriction is lifted.
    ///
    /// - Parameter until: the time at which the restriction ends; nil sets no end.
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
    /// Gives a user a role in a channel: moderator or plain member.
    func appoint(_ user: String, in channel: String, _ role: MemberRole) async throws(ChatError)

    /// Blocks a user: the backend's user receives no further events from that user.
    func block(_ user: String) async throws(ChatError)
    /// Unblocks a user.
    func unblock(_ user: String) async throws(ChatError)
    /// Returns a page of the users whom the backend's user has blocked.
    func blocks(limit: Int, cursor: String?) async throws(ChatError) -> Page<String>
}

/// The read and delivery marks of a ``ChatBackend``, and the counts of unread messages.
public protocol ReceiptBackend: Sendable {
    /// Moves the backend user's own mark in a channel forward.
    ///
    /// - Parameter timetoken: the newest message that the mark covers; nil selects the channel's newest message.
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

/// The two marks of a member: the newest message that a device of the user received, and the newest one that the user
/// read.
public enum ReceiptMark: Sendable { case delivered, read }

/// The number of messages that a user has not read.
public struct UnreadCount: Sendable, Equatable {
    /// The count over all channels.
    public let total: Int
    /// The counts by the channels' custom types. Channels without a custom type count only in the total.
    public let byCustomType: [String: Int]

    /// A number of unread messages, for example in a test.
    public init(total: Int, byCustomType: [String: Int]) {
        self.total = total
        self.byCustomType = byCustomType
    }
}

/// The texts (metadata) and counters that an app stores with channels of a ``ChatBackend``. Each writing operation
/// returns the values it wrote.
public protocol ValueBackend: Sendable {
    /// Returns the texts of a channel, by key.
    func metadata(of channel: String) async throws(ChatError) -> [String: String]
    /// - Throws: `.conflict` when one of the keys exists already.
    func create(metadata: [String: String], of channel: String) async throws(ChatError) -> [String: String]
    /// - Parameter adding: true adds missing keys; false leaves them out.
    func update(
        metadata: [String: String], adding: Bool, of channel: String
    ) async throws(ChatError) -> [String: String]
    /// - Parameter key: the key to delete; nil deletes all keys.
    func delete(metadata key: String?, of channel: String) async throws(ChatError)

    /// Returns the counters of a channel, by key.
    func counters(of channel: String) async throws(ChatError) -> [String: Int]
    /// - Throws: `.conflict` when one of the keys exists already.
    func create(counters: [String: Int], of channel: String) async throws(ChatError) -> [String: Int]
    /// - Parameter adding: true adds missing keys, counting from 0; false leaves them out.
    func update(
        counters: [String: Int], _ change: CounterChange, adding: Bool, of channel: String
    ) async throws(ChatError) -> [String: Int]
    /// - Parameter key: the key to delete; nil deletes all keys.
    func delete(counter key: String?, of channel: String) async throws(ChatError)
}

/// The operation that changes a counter by a number.
public enum CounterChange: Sendable { case set, increase, decrease }
