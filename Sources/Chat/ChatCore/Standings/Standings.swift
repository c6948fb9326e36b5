import ChatModel
import Locking

/// What an emit must know of a channel and of who writes there, answered from memory: a bounded cache in front of the
/// directory.
///
/// An app without any channel record and without any restriction has nothing to ask for, and pays one lookup of its name.
/// Of the others an entry is read when it is first needed, also when there is none, and *forgotten* when its record
/// changes. What was read while something was forgotten might be older than that change, so it is used by whoever read it
/// and not kept: what a verb has changed on this node counts when it returns.
public final class Standings: Sendable {
    private struct State: Sendable {
        /// Apps that have channel records or restrictions, or had some since the start.
        var spaces: Set<SpaceID> = []
        var channels: GenerationCache<ChannelID, ChannelStanding>
        /// By the key of the restriction.
        var users: GenerationCache<RecordKey, UserStanding>
        /// How often something was forgotten, by a part of the keys' hashes: changes elsewhere should not keep what is
        /// read here from being kept.
        var forgotten = [UInt64](repeating: 0, count: 256)
    }

    private let directory: any Directory
    private let keyring: Keyring
    private let state: Lock<State>

    init(directory: any Directory, keyring: Keyring, limits: Limits) {
        self.directory = directory
        self.keyring = keyring
        state = Lock(
            State(
                channels: GenerationCache(capacity: limits.standingsHeld),
                users: GenerationCache(capacity: limits.standingsHeld)))
    }

    /// Finds the apps that have anything to ask for. Before the first request.
    ///
    /// - Returns: the revision from which `follow` goes on.
    func load() async throws(ChatError) -> Revision {
        let revision = try await directory.revision()
        for app in keyring.apps {
            for kind in [RecordKind.channel, .restriction] {
                let page = try await directory.list(RecordQuery(kind, in: app.space, limit: 1))
                if !page.items.isEmpty { state.withLock { _ = $0.spaces.insert(app.space) } }
            }
        }
        return revision
    }

    /// Forgets what changes on any node, until cancelled or until the engine closes.
    func follow(from revision: Revision) async {
        for await changes in await directory.changes(after: revision) { forget(changes.keys) }
    }

    /// To be called when records have changed, before anybody is told.
    func forget(_ keys: some Sequence<RecordKey>) {
        for key in keys {
            switch key.kind {
            case .channel: forget(channel: ChannelID(key.id, in: key.space))
            case .restriction: forget(user: key, marks: true)
            case .membership: forget(user: RecordKey(.restriction, key.id, in: key.space), marks: false)
            default: break
            }
        }
    }

    private func forget(channel: ChannelID) {
        state.withLock { state in
            state.spaces.insert(channel.space)
            state.forgotten[Self.part(channel)] &+= 1
            state.channels.remove(channel)
        }
    }

    private func forget(user key: RecordKey, marks: Bool) {
        state.withLock { state in
            if marks { state.spaces.insert(key.space) }
            state.forgotten[Self.part(key)] &+= 1
            state.users.remove(key)
        }
    }

    private static func part(_ key: some Hashable) -> Int { Int(UInt(bitPattern: key.hashValue) % 256) }
}

extension Standings {
    /// Whether anybody in the app might be held back.
    func concern(_ space: SpaceID) -> Bool { state.withLock { $0.spaces.contains(space) } }

    /// What is in memory of a channel; nil when it would have to be read.
    func known(_ channel: ChannelID) -> ChannelStanding? {
        state.withLock { state in
            state.spaces.contains(channel.space) ? state.channels.value(of: channel) : ChannelStanding()
        }
    }

    func standing(of channel: ChannelID) async throws(ChatError) -> ChannelStanding {
        if let known = known(channel) { return known }
        let part = Self.part(channel)
        let before = state.withLock { $0.forgotten[part] }
        let record = try await directory.read(ChannelRecord.key(channel.name, in: channel.space))
        let standing = record.flatMap { ChannelRecord($0) }.map { ChannelStanding($0) } ?? ChannelStanding()
        state.withLock { state in
            if state.forgotten[part] == before { state.channels.insert(standing, for: channel) }
        }
        return standing
    }

    func standing(of user: String, in channel: ChannelID) async throws(ChatError) -> UserStanding {
        let key = RestrictionRecord.key(user, channel.name, in: channel.space)
        let part = Self.part(key)
        let (isConcerned, known, before) = state.withLock { state in
            (state.spaces.contains(channel.space), state.users.value(of: key), state.forgotten[part])
        }
        if let known { return known }
        guard isConcerned else { return UserStanding() }
        let membership = MembershipRecord.key(user, channel.name, in: channel.space)
        let records = try await directory.read([key, membership])
        let standing = UserStanding(
            state: records[1].flatMap { MembershipRecord($0) }?.state,
            restriction: records[0].flatMap { RestrictionRecord($0) })
        state.withLock { state in
            if state.forgotten[part] == before { state.users.insert(standing, for: key) }
        }
        return standing
    }
}
