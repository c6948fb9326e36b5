public import JSON

/// The in-memory store of presence: users present on channels, participants of open channels, and typing users.
///
/// A *presence entry* lasts as long as a user holds a presence key, regardless of the number of connections, devices
/// and nodes. It begins and ends with one change each, on one node. Connections (`hold`) and heartbeats (`renew`) keep
/// a key; the entry ends when neither is left. Changes are returned in the order in which they happened. The caller
/// publishes them; the store sends no other notification.
///
/// Nothing survives a restart of the whole installation. Counts are exact on one node, and at most 2 s old between
/// nodes.
///
/// A protocol, although one node needs a single implementation (`MemoryPresenceStore` in `ChatCore`): like the other
/// contracts here, it is what a storage engine for several nodes implements. `EngineConformance` tests any
/// implementation.
public protocol PresenceStore: Sendable {
    /// Adds presence keys of a user, held by a connection until `disconnect` or `release`. Keys that the connection already
    /// holds stay held. An empty list registers the connection alone. From then on, the user's participant keys last as
    /// long as the user's connections.
    /// - Throws: `.overloaded` when the gateway's limit of presence keys is exceeded; then nothing has changed.
    func hold(
        _ presenceKeys: [PresenceKey], of user: UserID, by holder: HolderID
    ) async throws(ChatError) -> [PresenceChange]

    /// Records a heartbeat: the keys last for `duration` from now, replacing any earlier duration. A participant with a
    /// connection needs no heartbeat and continues to last with the connection.
    /// - Throws: as `hold`.
    func renew(_ presenceKeys: [PresenceKey], for duration: Duration) async throws(ChatError) -> [PresenceChange]

    /// Marks a connection as broken. It counts as present until the grace period ends, unless it returns through
    /// `hold`.
    func disconnect(_ holder: HolderID, grace: Duration) async throws(ChatError)

    /// Ends a connection that finished normally and whose user may reconnect. The keys that it still holds last for
    /// `duration`, as after a heartbeat.
    ///
    /// The connection may have begun before the user left, and been recorded afterwards. A key that lasts by such
    /// connections alone, and that the user left less than 2 s ago, lasts for at most 2 s.
    func conclude(_ holder: HolderID, for duration: Duration) async throws(ChatError) -> [PresenceChange]

    /// Releases keys that a connection holds. Nil releases all of them and removes the connection.
    func release(_ presenceKeys: [PresenceKey]?, by holder: HolderID) async throws(ChatError) -> [PresenceChange]

    /// Removes the keys, regardless of which connections hold them.
    func leave(_ presenceKeys: [PresenceKey]) async throws(ChatError) -> [PresenceChange]

    /// Sets the state that a user shows; nil clears it. Returns no change when the state is the same byte for byte.
    /// - Throws: `.notFound` when there is no entry for the key.
    func setState(_ state: JSONText?, of presenceKey: PresenceKey) async throws(ChatError) -> [PresenceChange]

    /// True when an entry may end by a timeout. Costs nothing.
    var mayExpire: Bool { get }

    /// Ends the entries that have timed out. Call it about every second while ``mayExpire`` is true.
    func expire() async throws(ChatError) -> [PresenceChange]

    /// The users in a scope after `user`, in the byte order of their names. At most `limit` users, which may be zero.
    ///
    /// - Parameter order: the order of the names; `user` is the last one of the page before in this order.
    func occupants(
        of presenceScope: PresenceScope, after user: String?, _ order: ListOrder, limit: Int
    ) async throws(ChatError) -> Occupancy

    /// The user of a key with the state shown; nil when there is no entry.
    func occupant(_ presenceKey: PresenceKey) async throws(ChatError) -> Occupancy.Occupant?

    /// The number of users in each scope.
    func counts(of presenceScopes: [PresenceScope]) async throws(ChatError) -> [Int]

    /// The channels of an app with at least one user for which `isWanted` is true, in the order of their names, with
    /// their numbers of users. Returns the first `limit` of them.
    func presenceScopes(
        of kind: PresenceKind, in app: AppID, limit: Int, where isWanted: @Sendable (ChannelID) -> Bool
    ) async throws(ChatError) -> [(ChannelID, count: Int)]

    /// The channels on which a user has an entry, in the order of their names.
    func channels(of user: UserID, as kind: PresenceKind) async throws(ChatError) -> [ChannelID]

    /// True when this node knows an entry for the key. Costs nothing, because it is called for every event and device.
    func isTaken(_ presenceKey: PresenceKey) -> Bool
}

/// A presence change: an entry began or ended, or its state changed.
public struct PresenceChange: Sendable, Equatable {
    /// The kind of a presence change.
    public enum PresenceTransition: Sendable {
        case joined, left, timedOut, stateChanged
        /// A typing user continues to type. No store returns it; it is only an event for subscribers of PubNub's wire.
        case renewed
    }

    /// The user and the scope that the change concerns.
    public var presenceKey: PresenceKey
    /// The change: the entry began, ended or shows another state.
    public var happening: PresenceTransition
    /// The number of users in the scope after the change.
    public var occupancy: Int
    /// The state that the user shows, or showed at the end.
    public var state: JSONText?

    /// A change with the number of users that are in the scope afterwards.
    public init(_ presenceKey: PresenceKey, _ happening: PresenceTransition, occupancy: Int, state: JSONText? = nil) {
        self.presenceKey = presenceKey
        self.happening = happening
        self.occupancy = occupancy
        self.state = state
    }
}

/// The users in a scope.
public struct Occupancy: Sendable, Equatable {
    /// A user in a scope, with the state that the user shows; a nil state is none.
    public struct Occupant: Sendable, Equatable {
        /// The user's name.
        public var user: String
        /// The state that the user shows, a JSON object; nil for none.
        public var state: JSONText?

        /// A user who is in the scope.
        public init(user: String, state: JSONText? = nil) {
            self.user = user
            self.state = state
        }
    }

    /// The total number of users, including those not on the page.
    public var count: Int
    /// The listed users, in the order of the list.
    public var occupants: [Occupant]
    /// True when further users follow the last of `occupants`.
    public var hasMore: Bool

    /// A scope with `count` users, of whom `occupants` are listed.
    public init(count: Int, occupants: [Occupant] = [], hasMore: Bool = false) {
        self.count = count
        self.occupants = occupants
        self.hasMore = hasMore
    }
}

extension PresenceStore {
    /// Lists users as above, in ascending order of their names.
    ///
    /// - Throws: as ``occupants(of:after:_:limit:)``.
    public func occupants(
        of presenceScope: PresenceScope, after user: String?, limit: Int
    ) async throws(ChatError) -> Occupancy {
        try await occupants(of: presenceScope, after: user, .ascending, limit: limit)
    }
}
