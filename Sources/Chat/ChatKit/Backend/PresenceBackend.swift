public import ChatModel

/// Who is where on a ``ChatBackend``, and who types. What is said, is said of the backend's user.
public protocol PresenceBackend: Sendable {
    func setTyping(_ isTyping: Bool, in channel: String) async throws(ChatError)
    /// The ids of the users who type now; the page's total is their number.
    func typists(of channel: String, limit: Int, cursor: String?) async throws(ChatError) -> Page<String>

    /// A sign of life.
    ///
    /// - Parameters:
    ///   - seconds: how long it counts; nil: as long as the gateway says.
    ///   - state: what the user shows there; nil leaves it.
    func appear(in channel: String, for seconds: Int?, state: AnyJSON?) async throws(ChatError)
    func disappear(from channel: String) async throws(ChatError)
    func show(_ state: AnyJSON, in channel: String) async throws(ChatError)
    /// Who is present, by name; the page's total is how many there are.
    func present(in channel: String, limit: Int, cursor: String?) async throws(ChatError) -> Page<PresentUser>
    /// Nil when the user is not there.
    func presence(of user: String, in channel: String) async throws(ChatError) -> PresentUser?
    /// The channels a user is present on.
    func presentChannels(of user: String) async throws(ChatError) -> [String]

    /// Goes into an open channel.
    ///
    /// - Returns: how many are inside now.
    func enter(_ channel: String) async throws(ChatError) -> Int
    func exit(_ channel: String) async throws(ChatError)
    /// Who is inside an open channel, by name; the page's total is how many there are.
    func participants(of channel: String, limit: Int, cursor: String?) async throws(ChatError) -> Page<String>
}

/// A user who is present on a channel.
public struct PresentUser: Sendable, Equatable {
    public let userId: String
    /// What the user shows there; an empty object is nothing.
    public let state: AnyJSON

    public init(userId: String, state: AnyJSON) {
        self.userId = userId
        self.state = state
    }
}

/// Where a ``Chat`` does its work: in this process on an engine, or on a gateway over HTTP.
///
/// Written with the nouns of `ChatModel`; everything a user of the library touches stands on these verbs, so that both
/// ways behave alike.
public protocol ChatBackend: RecordBackend, MessageBackend, ModerationBackend, PresenceBackend, ReceiptBackend,
    ValueBackend, GroupBackend
{
    /// Who acts. Every verb is done in this user's name.
    var user: String { get }

    /// The same place, seen by another user. Closing either closes both.
    func acting(as user: String) -> any ChatBackend

    /// Puts something into a channel; it is durable when this returns, or, passing, visible.
    func post(_ posting: OutgoingMessage) async throws(ChatError) -> Timetoken

    /// A page of a channel's kept events.
    func history(_ query: EventQuery) async throws(ChatError) -> Page<Event>

    /// How many kept events `history` would give in all.
    func count(_ query: EventQuery) async throws(ChatError) -> Int

    /// What happens from now on, or from a position on.
    func events(_ selection: EventSelection) -> LiveEvents

    /// Ends everything that is open. Idempotent.
    func close() async
}

/// Which kept events of a channel are asked for.
public struct EventQuery: Sendable {
    public var channel: String
    /// Both bounds exclusive.
    public var after = Timetoken.zero
    public var before = Timetoken.distantFuture
    public var order = HistoryRequest.Order.newestFirst
    public var limit = 50
    /// Names and patterns; empty: every type.
    public var types: [String] = []

    public init(channel: String) { self.channel = channel }
}

/// Which live events are wanted.
public struct EventSelection: Sendable, Hashable {
    /// Names and patterns (`a.*`). Empty together with `groups`: for a device, what concerns its user; otherwise everything
    /// that can be read.
    public var channels: [String] = []
    /// Channel groups, whose channels are followed as they change.
    public var groups: [String] = []
    /// Names and patterns; empty: every type.
    public var types: [String] = []
    /// An expression in the language of filters: `data.amount > 100`.
    public var filter: String?
    /// Whether `presence.*` is among it.
    public var hasPresence = false
    /// Starts behind this position; nil: from now on.
    public var since: Timetoken?
    /// Whether it is followed as a device of the user, which hears what each event's audience admits.
    public var isDevice = false

    public init(channels: [String] = [], types: [String] = []) {
        self.channels = channels
        self.types = types
    }
}

/// Channel groups of a ``ChatBackend``.
public protocol GroupBackend: Sendable {
    /// Nil when there is none.
    func group(_ id: String) async throws(ChatError) -> GroupRecord?
    /// The names of all groups, in their order.
    func groups(limit: Int, cursor: String?) async throws(ChatError) -> Page<String>
    /// Takes channels in and out; the group is made by it where there is none.
    func change(group id: String, adding: [String], removing: [String]) async throws(ChatError)
    func delete(group id: String) async throws(ChatError)
}

/// What comes out of a followed selection.
public enum LiveUpdate: Sendable {
    /// Everything behind the position comes from now on. With a gap, events before it are lost.
    case connected(at: Timetoken, hasGap: Bool)
    /// At least one event; following could continue behind the cursor.
    case events([Event], cursor: Timetoken)
    /// The connection is lost and will be made again, from where it was lost.
    case interrupted(ChatError)
}

/// A followed selection: opened when its iterator is made or at the first `next`, closed when its iterator goes.
///
/// Ends when the chat is closed; throws when following is over for good, for instance because the channel may not be read.
public struct LiveEvents: AsyncSequence, Sendable {
    public typealias Element = LiveUpdate
    public typealias Failure = ChatError
    public typealias Next = @Sendable () async throws(ChatError) -> LiveUpdate?

    private let open: @Sendable () -> Next

    /// - Parameter open: called once per iterator; what it returns gives the news one by one.
    public init(_ open: @escaping @Sendable () -> Next) { self.open = open }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(nextNews: open()) }

    public struct AsyncIterator: AsyncIteratorProtocol {
        let nextNews: Next

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(ChatError) -> LiveUpdate? {
            try await nextNews()
        }
    }
}

/// What moderators of a ``ChatBackend`` do, and what each user keeps away.
public protocol ModerationBackend: Sendable {
    /// Puts a restriction upon a user in the place of what was; neither ban nor mute lifts it.
    ///
    /// - Parameter until: when it ends by itself; nil: it does not.
    func restrict(
        _ user: String, in channel: String, ban: Bool, mute: Bool, reason: String?, until: Timetoken?
    ) async throws(ChatError)
    /// Nil when there is none.
    func restriction(of user: String, in channel: String) async throws(ChatError) -> RestrictionRecord?
    func restrictions(
        in channel: String, limit: Int, cursor: String?
    ) async throws(ChatError) -> Page<RestrictionRecord>
    func restrictions(of user: String, limit: Int, cursor: String?) async throws(ChatError) -> Page<RestrictionRecord>
    /// Lets only moderators write, or everybody again.
    func freeze(_ channel: String, _ isFrozen: Bool) async throws(ChatError)
    /// Makes a user a moderator, or one no more.
    func appoint(_ user: String, in channel: String, _ role: MemberRole) async throws(ChatError)

    /// The backend's user hears nothing of the other from now on.
    func block(_ user: String) async throws(ChatError)
    func unblock(_ user: String) async throws(ChatError)
    /// Whom the backend's user has blocked.
    func blocks(limit: Int, cursor: String?) async throws(ChatError) -> Page<String>
}

/// What users of a ``ChatBackend`` have read, and what they have not.
public protocol ReceiptBackend: Sendable {
    /// Moves a member's mark forward; nobody does that for others.
    ///
    /// - Parameter timetoken: up to which message; nil: the newest.
    func mark(
        _ mark: ReceiptMark, of user: String, in channel: String, at timetoken: Timetoken?
    ) async throws(ChatError)
    /// Marks everything read, and says in which channels there was something.
    func markAllRead() async throws(ChatError) -> [String]
    func unread(of user: String, in channel: String) async throws(ChatError) -> Int
    /// Of the backend's user, in all channels.
    func unread() async throws(ChatError) -> UnreadCount
}

/// The two marks of a member: up to which message a device of the user has got, and up to which the user has read.
public enum ReceiptMark: Sendable { case delivered, read }

/// How many messages a user has not read.
public struct UnreadCount: Sendable, Equatable {
    public let total: Int
    /// By the channels' custom types; those of channels without one are in the total alone.
    public let byCustomType: [String: Int]

    public init(total: Int, byCustomType: [String: Int]) {
        self.total = total
        self.byCustomType = byCustomType
    }
}

/// Texts and counters that an app keeps with channels of a ``ChatBackend``. What writes answers with what it wrote.
public protocol ValueBackend: Sendable {
    func metadata(of channel: String) async throws(ChatError) -> [String: String]
    /// - Throws: `.conflict` when there is one of the keys already.
    func create(metadata: [String: String], of channel: String) async throws(ChatError) -> [String: String]
    /// - Parameter adding: makes the keys that are not there; they are left out otherwise.
    func update(
        metadata: [String: String], adding: Bool, of channel: String
    ) async throws(ChatError) -> [String: String]
    /// - Parameter key: nil: all.
    func delete(metadata key: String?, of channel: String) async throws(ChatError)

    func counters(of channel: String) async throws(ChatError) -> [String: Int]
    /// - Throws: `.conflict` when there is one of the keys already.
    func create(counters: [String: Int], of channel: String) async throws(ChatError) -> [String: Int]
    /// - Parameter adding: makes the keys that are not there, counting from 0; they are left out otherwise.
    func update(
        counters: [String: Int], _ change: CounterChange, adding: Bool, of channel: String
    ) async throws(ChatError) -> [String: Int]
    /// - Parameter key: nil: all.
    func delete(counter key: String?, of channel: String) async throws(ChatError)
}

/// What becomes of a counter with the number that is given.
public enum CounterChange: Sendable { case set, increase, decrease }
