import ChatModel
import Locking
import Synchronization

/// A bounded cache of the channel rules and user rights that an emit checks. An entry that is not cached is read from
/// the directory, which is the store of records.
///
/// An app without channel records and restrictions needs no checks, and costs one lookup of its name. For other apps,
/// an entry is read on first use, even when no record exists. When a record changes, its entry is *forgotten* before an
/// event of that change is visible. If an entry is forgotten while its value is being read from the directory, the
/// value may be older than the change. The reader then uses the value, but does not cache it.
///
/// Every result includes a revision of the directory of records. When the event log commits an event, it checks whether
/// the records that determined the result have changed since that revision.
final class ChannelAccessCache: Sendable {
    private struct State: Sendable {
        /// The apps that have channel records or restrictions, or had some since the start.
        var apps: Set<AppID> = []
        /// The newest revision of the directory of records whose changes have reached the cache: the cache entries of
        /// all records that changed up to this revision are already forgotten.
        var revision: Revision = 0
        /// The apps that have restrictions, or had some since the start. A subset of `apps`.
        var restricted: Set<AppID> = []
        var channels: GenerationCache<ChannelID, ChannelRules>
        var users: GenerationCache<UserChannelKey, UserRights>
        /// The number of times that entries were forgotten, in 256 counters. The hash of a key selects its counter, so
        /// most unrelated changes do not prevent the caching of a value that is being read.
        var forgotten = [UInt64](repeating: 0, count: 256)
    }

    private let directory: any Directory
    private let keyring: Keyring
    private let pendingDeletions: PendingDeletions
    private let state: Lock<State>
    /// `revision` of the state while no app has rules, otherwise ``someRules``. The emits of an installation without
    /// rules read it instead of the state, without the lock.
    private let revisionWithoutRules = Atomic<Revision>(0)
    private static let someRules = Revision.max

    init(directory: any Directory, keyring: Keyring, pendingDeletions: PendingDeletions, limits: Limits) {
        self.directory = directory
        self.keyring = keyring
        self.pendingDeletions = pendingDeletions
        state = Lock(
            State(
                channels: GenerationCache(capacity: limits.channelAccessEntries),
                users: GenerationCache(capacity: limits.channelAccessEntries)))
        directory.observe { [weak self] in self?.forget($0) }
    }

    /// Finds the apps that have channel records or restrictions; the emits of other apps need no checks. Must finish
    /// before the first request.
    func load() async throws(ChatError) {
        let revision = try await directory.revision()
        update { $0.revision = max($0.revision, revision) }
        for app in keyring.apps {
            for kind in [RecordKind.channel, .restriction] {
                let page = try await directory.list(RecordQuery(kind, in: app.id, limit: 1))
                guard !page.items.isEmpty else { continue }
                update { state in
                    state.apps.insert(app.id)
                    if kind == .restriction { state.restricted.insert(app.id) }
                }
            }
        }
    }

    private func forget(_ changes: RecordChanges) {
        for key in changes.keys {
            switch key.kind {
            case .channel: forget(channel: ChannelID(key.id, in: key.app))
            case .restriction, .membership:
                guard let (user, channel) = key.userAndChannel else { continue }
                forget(UserChannelKey(user.name, channel), marks: key.kind == .restriction)
            default: break
            }
        }
        update { $0.revision = max($0.revision, changes.revision) }
    }

    private func forget(channel: ChannelID) {
        update { state in
            state.apps.insert(channel.app)
            state.forgotten[Self.part(channel)] &+= 1
            state.channels.remove(channel)
        }
    }

    private func forget(_ person: UserChannelKey, marks: Bool) {
        update { state in
            if marks {
                state.apps.insert(person.channel.app)
                state.restricted.insert(person.channel.app)
            }
            state.forgotten[Self.part(person)] &+= 1
            state.users.remove(person)
        }
    }

    /// Changes the state, except for the cached entries.
    private func update(_ change: (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            revisionWithoutRules.store(state.apps.isEmpty ? state.revision : Self.someRules, ordering: .releasing)
        }
    }

    private static func part(_ key: some Hashable) -> Int { Int(UInt(bitPattern: key.hashValue) % 256) }
}

extension ChannelAccessCache {
    /// Returns true when the app has restrictions, or had some since the start. When false, no user of the app is muted
    /// or banned.
    func restrict(_ app: AppID) -> Bool { state.withLock { $0.restricted.contains(app) } }

    /// Returns true when the app needs checks: the app has channel records or restrictions, or had some since the
    /// start.
    func hasRules(_ app: AppID) -> Bool { state.withLock { $0.apps.contains(app) } }

    /// Returns the current revision of the directory of records when the app has no channel records and no
    /// restrictions, so that its emits need no checks. Returns nil when ``hasRules(_:)`` is true.
    func revisionIfNoRules(of app: AppID) -> Revision? {
        let revision = revisionWithoutRules.load(ordering: .acquiring)
        guard revision == Self.someRules else { return revision }
        return state.withLock { $0.apps.contains(app) ? nil : $0.revision }
    }

    /// Returns the rules of a channel and, when a user is given, the rights of that user in the channel. Reads the
    /// directory of records only when the cache lacks an entry.
    func channelAccess(of user: String?, in channel: ChannelID) async throws(ChatError) -> ChannelAccess {
        if let known = knownAccess(of: user, in: channel) { return known }
        return try await read(user.map { UserChannelKey($0, channel) }, in: channel)
    }

    /// Returns the rules of a channel and, when a user is given, the rights of that user in the channel, if the cache has
    /// them; nil when a record must be read.
    func knownAccess(of user: String?, in channel: ChannelID) -> ChannelAccess? {
        // The cached rights in a channel that is being deleted may be outdated.
        if user != nil, pendingDeletions.concern(channel) { return nil }
        return state.withLock { state in
            let revision = state.revision
            guard state.apps.contains(channel.app) else { return ChannelAccess(revision: revision) }
            guard let place = state.channels.value(of: channel) else { return nil }
            guard let user else { return ChannelAccess(channel: place, revision: revision) }
            return state.users.value(of: UserChannelKey(user, channel)).map {
                ChannelAccess(channel: place, user: $0, revision: revision)
            }
        }
    }

    private func read(_ person: UserChannelKey?, in channel: ChannelID) async throws(ChatError) -> ChannelAccess {
        let (before, revision) = state.withLock { ($0.forgotten, $0.revision) }
        var keys = [ChannelRecord.key(channel.name, in: channel.app)]
        if let user = person?.user.text {
            keys.append(RestrictionRecord.key(user, channel.name, in: channel.app))
            keys.append(MembershipRecord.key(user, channel.name, in: channel.app))
        }
        let records = try await directory.read(keys)
        var channelAccess = ChannelAccess(revision: revision)
        if let record = records[0].flatMap(ChannelRecord.init) { channelAccess.channel = ChannelRules(record) }
        if let person {
            channelAccess.user = UserRights(
                of: person.user, in: channel, membership: records[2], restriction: records[1], pendingDeletions)
        }
        keep(channelAccess, of: person, in: channel, unlessForgottenSince: before)
        return channelAccess
    }

    private func keep(
        _ channelAccess: ChannelAccess, of person: UserChannelKey?, in channel: ChannelID,
        unlessForgottenSince before: [UInt64]
    ) {
        let isLeft = pendingDeletions.concern(channel)
        state.withLock { state in
            let part = Self.part(channel)
            if state.forgotten[part] == before[part] { state.channels.insert(channelAccess.channel, for: channel) }
            guard let person, !isLeft else { return }
            let own = Self.part(person)
            if state.forgotten[own] == before[own] { state.users.insert(channelAccess.user, for: person) }
        }
    }
}

/// The key of a cache entry for one user in one channel.
struct UserChannelKey: Hashable {
    let user: ExactText
    let channel: ChannelID

    init(_ user: String, _ channel: ChannelID) {
        self.user = ExactText(user)
        self.channel = channel
    }
}
