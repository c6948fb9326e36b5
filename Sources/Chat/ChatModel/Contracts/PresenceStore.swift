public import JSON

/// The in-memory store of presence: which users are present on channels, have entered open channels, or are typing.
///
/// A *presence key* is a user, a channel and a kind of presence. A *presence entry* exists while the user holds the
/// key, regardless of the number of connections, devices and nodes. Connections (`hold`) and heartbeats (`renew`) hold
/// a key; the entry ends when the key has no connection and no valid heartbeat any more.
///
/// The beginning and the end of an entry are reported as one change each, on one node. Changes are returned in the
/// order in which they happened. The caller must publish them: the store notifies nobody.
///
/// A call that makes a user present sees every departure that another node completed before the call. Therefore a user
/// who left on one node and comes back on another one joins.
///
/// No entry survives a restart of the whole installation. Counts are exact for one node. Between nodes they may be 2 s
/// old.
///
/// A gateway with one node uses `MemoryPresenceStore` in `ChatCore`. A storage engine for several nodes can implement
/// this protocol itself. `EngineConformance` tests any implementation.
public protocol PresenceStore: Sendable {
    /// Announces that the requests for all following calls, up to the next announcement, have already arrived. A store
    /// of several nodes then asks only once what other nodes have changed, instead of at each call. Without
    /// announcements, each call sees what other nodes completed before it.
    func beginRound() async

    /// Adds presence keys that a connection holds until `disconnect` or `release`. Keys that the connection already
    /// holds do not change. An empty list only registers the connection. From then on, the user's keys of the kind
    /// `participant` last as long as the user has a connection.
    /// - Throws: `.overloaded` when the gateway's limit of presence keys is exceeded; then nothing changes.
    func hold(
        _ presenceKeys: [PresenceKey], of user: UserID, by holder: HolderID
    ) async throws(ChatError) -> [PresenceChange]

    /// Performs `hold` without waiting, if every key already has an entry, so that nobody joins. Returns false, and does
    /// nothing, in any other case.
    func holdAtOnce(_ presenceKeys: [PresenceKey], of user: UserID, by holder: HolderID) -> Bool

    /// Records a heartbeat: the keys expire after `duration` from now, which replaces any earlier expiry. Keys of the
    /// kind `participant` do not expire while the user has a connection.
    /// - Throws: the errors of `hold`.
    func renew(_ presenceKeys: [PresenceKey], for duration: Duration) async throws(ChatError) -> [PresenceChange]

    /// Marks a connection as broken. The user of the connection counts as present until `grace` has passed. If `hold`
    /// is called for the connection before that time, the user stays present.
    func disconnect(_ holder: HolderID, grace: Duration) async throws(ChatError)

    /// Ends a connection that finished normally and whose user may reconnect. The keys of the connection expire after
    /// `duration`, as after a heartbeat.
    ///
    /// A poll that the client sent before its user left may be processed after the leave. Therefore, a key expires
    /// after at most 2 s if its user left (``leave(_:)``) less than 2 s ago and the key was not renewed since.
    func conclude(_ holder: HolderID, for duration: Duration) async throws(ChatError) -> [PresenceChange]

    /// Performs `conclude` without waiting, if no entry ends by it. Returns false, and does nothing, in any other case.
    func concludeAtOnce(_ holder: HolderID, for duration: Duration) -> Bool

    /// Releases presence keys that a connection holds. When `presenceKeys` is nil, releases all keys of the connection
    /// and removes the connection.
    func release(_ presenceKeys: [PresenceKey]?, by holder: HolderID) async throws(ChatError) -> [PresenceChange]

    /// Ends the presence entries of the given keys, even while connections hold the keys.
    func leave(_ presenceKeys: [PresenceKey]) async throws(ChatError) -> [PresenceChange]

    /// Sets the state that a user shows to others; nil clears it. Returns no change when the state is the same byte for
    /// byte.
    /// - Throws: `.notFound` when there is no entry for the key.
    func setState(_ state: JSONText?, of presenceKey: PresenceKey) async throws(ChatError) -> [PresenceChange]

    /// True when an entry may end by a timeout. A cheap check.
    var mayExpire: Bool { get }

    /// Ends the entries that have timed out. Call it once a second while ``mayExpire`` is true. In a store of several
    /// nodes, it also carries out the changes that a failure has delayed, and returns them.
    func expire() async throws(ChatError) -> [PresenceChange]

    /// One page of the users in a presence scope (a channel and a kind of presence), sorted by the bytes of their
    /// names. The page begins after `user` and has at most `limit` users. A limit of zero returns only the count.
    ///
    /// - Parameters:
    ///   - user: the last user of the previous page; nil for the first page.
    ///   - order: ascending or descending order of the names.
    func occupants(
        of presenceScope: PresenceScope, after user: String?, _ order: ListOrder, limit: Int
    ) async throws(ChatError) -> Occupancy

    /// The user of a key, with the state that the user shows; nil when the key has no entry.
    func occupant(_ presenceKey: PresenceKey) async throws(ChatError) -> Occupancy.Occupant?

    /// The number of users in each presence scope (a channel and a kind of presence), in the order of `presenceScopes`.
    func counts(of presenceScopes: [PresenceScope]) async throws(ChatError) -> [Int]

    /// The first `limit` channels of an app, in the order of their names, that have at least one user and for which
    /// `isWanted` returns true. Each channel is returned with its number of users.
    func presenceScopes(
        of kind: PresenceKind, in app: AppID, limit: Int, where isWanted: @Sendable (ChannelID) -> Bool
    ) async throws(ChatError) -> [(ChannelID, count: Int)]

    /// The channels on which a user has an entry of this kind, in the order of their names.
    func channels(of user: UserID, as kind: PresenceKind) async throws(ChatError) -> [ChannelID]

    /// True when other nodes may end entries of this node. `isTaken` then learns of it up to 1 s later.
    var hasOtherNodes: Bool { get }

    /// True when this node has an entry for the key. A cheap check, because it is called for every event and device.
    func isTaken(_ presenceKey: PresenceKey) -> Bool
}

/// A change of a presence entry: the entry began or ended, or the state of the user changed.
public struct PresenceChange: Sendable, Equatable {
    /// The kind of a presence change.
    public enum PresenceTransition: Sendable {
        case joined, left, timedOut, stateChanged
        /// A typing user continues to type. No store returns this case; it only occurs in events for PubNub clients.
        case renewed
    }

    /// The user, the channel and the kind of presence.
    public var presenceKey: PresenceKey
    /// The kind of the change.
    public var happening: PresenceTransition
    /// The number of users on the channel with this kind of presence after the change.
    public var occupancy: Int
    /// The state that the user shows to others, or showed before the entry ended; nil for none.
    public var state: JSONText?

    /// Creates a change. `occupancy` is the number of users on the channel with this kind of presence after the change.
    public init(_ presenceKey: PresenceKey, _ happening: PresenceTransition, occupancy: Int, state: JSONText? = nil) {
        self.presenceKey = presenceKey
        self.happening = happening
        self.occupancy = occupancy
        self.state = state
    }
}

/// A page of the users in a presence scope, which is a channel and a kind of presence.
public struct Occupancy: Sendable, Equatable {
    /// A user who is present on a channel, with the state that the user shows to others.
    public struct Occupant: Sendable, Equatable {
        /// The user's name.
        public var user: String
        /// The state that the user shows to others, a JSON object; nil for none.
        public var state: JSONText?

        /// Creates the entry of one user.
        public init(user: String, state: JSONText? = nil) {
            self.user = user
            self.state = state
        }
    }

    /// The number of all users in the presence scope, including the users who are not on the page.
    public var count: Int
    /// The users on the page, in the order of the list.
    public var occupants: [Occupant]
    /// True when further users follow the last of `occupants`.
    public var hasMore: Bool

    /// Creates a page of present users. `count` is the number of all users in the presence scope; the page lists
    /// `occupants`.
    public init(count: Int, occupants: [Occupant] = [], hasMore: Bool = false) {
        self.count = count
        self.occupants = occupants
        self.hasMore = hasMore
    }
}

extension PresenceStore {
    /// Does nothing, because a store of one process has nothing to ask.
    public func beginRound() async {}

    /// Does nothing and returns false. A store that needs no wait replaces this method.
    public func holdAtOnce(_: [PresenceKey], of _: UserID, by _: HolderID) -> Bool { false }

    /// Does nothing and returns false. A store that needs no wait replaces this method.
    public func concludeAtOnce(_: HolderID, for _: Duration) -> Bool { false }

    /// False: all entries are those of one process.
    public var hasOtherNodes: Bool { false }

    /// Lists the users in a presence scope (a channel and a kind of presence) after `user`, in ascending order of their
    /// names.
    ///
    /// - Throws: the errors of ``occupants(of:after:_:limit:)``.
    public func occupants(
        of presenceScope: PresenceScope, after user: String?, limit: Int
    ) async throws(ChatError) -> Occupancy {
        try await occupants(of: presenceScope, after: user, .ascending, limit: limit)
    }
}
