public import JSON

/// Who is where, in memory: presence, participants of open channels, who types (`engine.md` 1.3).
///
/// A *stay* is the time for which somebody has a seat, whatever number of connections, devices and nodes hold it. Each
/// begins with one change and ends with one, on one node. A seat is held by connections (`hold`) and by signs of life
/// (`renew`); the stay ends when neither is left. Changes come in the order in which they happened; what becomes of them
/// is the caller's business, there is no other notice.
///
/// Nothing survives a restart of the whole installation. Numbers are exact on one node and at most 2 s old between
/// several.
public protocol PresenceStore: Sendable {
    /// Seats of a user, held by a connection until `lose` or `release`. What it holds already stays so; no seats at all
    /// says that the connection is there. The user's seats as a participant are its connections' from then on.
    /// - Throws: `.overloaded` past the number of seats the gateway may have; then nothing has changed.
    func hold(
        _ presenceKeys: [PresenceKey], of user: UserID, by holder: HolderID
    ) async throws(ChatError) -> [PresenceChange]

    /// A sign of life: seats for so long from now, however long an earlier one would have lasted. A participant who has a
    /// connection needs none, and stays with that.
    /// - Throws: as `hold`.
    func renew(_ presenceKeys: [PresenceKey], for duration: Duration) async throws(ChatError) -> [PresenceChange]

    /// The connection broke. It counts as there until the grace is over, unless it comes back by `hold`.
    func lose(_ holder: HolderID, grace: Duration) async throws(ChatError)

    /// The connection ended as it was to, and its user may come again: what it still held lasts for so long as by a sign of
    /// life.
    func conclude(_ holder: HolderID, for duration: Duration) async throws(ChatError) -> [PresenceChange]

    /// The connection gives seats up, all of them and itself when `presenceKeys` is nil.
    func release(_ presenceKeys: [PresenceKey]?, by holder: HolderID) async throws(ChatError) -> [PresenceChange]

    /// The users go, whoever holds their seats.
    func leave(_ presenceKeys: [PresenceKey]) async throws(ChatError) -> [PresenceChange]

    /// What the user shows there; nil is nothing. No change when it is the same, byte for byte.
    /// - Throws: `.notFound` when the seat is empty.
    func setState(_ state: JSONText?, of presenceKey: PresenceKey) async throws(ChatError) -> [PresenceChange]

    /// Whether any stay may end by itself. Costs nothing.
    var mayExpire: Bool { get }

    /// Ends the stays that nobody has kept up. To be asked about every second, as long as any may end.
    func expire() async throws(ChatError) -> [PresenceChange]

    /// Those in a venue after a user, in the order of their names' bytes. No more than `limit`, which may be zero.
    ///
    /// - Parameter order: of the names; `user` is then the last one of the page before.
    func occupants(
        of presenceScope: PresenceScope, after user: String?, _ order: ListOrder, limit: Int
    ) async throws(ChatError) -> Occupancy

    /// Who has the seat, with what they show; nil when it is empty.
    func occupant(_ presenceKey: PresenceKey) async throws(ChatError) -> Occupancy.Occupant?

    /// How many there are in each venue.
    func counts(of presenceScopes: [PresenceScope]) async throws(ChatError) -> [Int]

    /// The channels of an app where anybody is, as far as they are wanted, in the order of their names, and how many are
    /// there; the first of them.
    func presenceScopes(
        of kind: PresenceKind, in app: AppID, limit: Int, where isWanted: @Sendable (ChannelID) -> Bool
    ) async throws(ChatError) -> [(ChannelID, count: Int)]

    /// Where a user is, in the order of the channels' names.
    func channels(of user: UserID, as kind: PresenceKind) async throws(ChatError) -> [ChannelID]

    /// Whether somebody sits there, as far as this node knows. Costs nothing: asked for every event and device.
    func isTaken(_ presenceKey: PresenceKey) -> Bool
}

/// One beginning or end of a stay, or what somebody shows meanwhile.
public struct PresenceChange: Sendable, Equatable {
    public enum PresenceTransition: Sendable {
        case joined, left, timedOut, stateChanged
        /// A typist goes on typing. No board says so; it is an event for subscribers of PubNub's wire alone.
        case renewed
    }

    public var presenceKey: PresenceKey
    public var happening: PresenceTransition
    /// How many are in the venue after it.
    public var occupancy: Int
    /// What the user shows, or showed at the end.
    public var state: JSONText?

    public init(_ presenceKey: PresenceKey, _ happening: PresenceTransition, occupancy: Int, state: JSONText? = nil) {
        self.presenceKey = presenceKey
        self.happening = happening
        self.occupancy = occupancy
        self.state = state
    }
}

/// Who is in a venue.
public struct Occupancy: Sendable, Equatable {
    public struct Occupant: Sendable, Equatable {
        public var user: String
        public var state: JSONText?

        public init(user: String, state: JSONText? = nil) {
            self.user = user
            self.state = state
        }
    }

    /// All of them, also those that were not asked for.
    public var count: Int
    public var occupants: [Occupant]
    public var hasMore: Bool

    public init(count: Int, occupants: [Occupant] = [], hasMore: Bool = false) {
        self.count = count
        self.occupants = occupants
        self.hasMore = hasMore
    }
}

extension PresenceStore {
    /// The same, in the order of the names.
    public func occupants(
        of presenceScope: PresenceScope, after user: String?, limit: Int
    ) async throws(ChatError) -> Occupancy {
        try await occupants(of: presenceScope, after: user, .ascending, limit: limit)
    }
}
