/// The operations that a credential allows.
public struct Scopes: OptionSet, Hashable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Permits emitting events.
    public static let emit = Scopes(rawValue: 1)
    /// Permits reading and following events and records.
    public static let read = Scopes(rawValue: 2)
    /// Permits managing the app's resources: webhooks, sources and schemas.
    public static let manage = Scopes(rawValue: 4)
    /// Permits everything, including managing the app's keys.
    public static let admin = Scopes(rawValue: 8)

    /// The four scopes with their names, in the order `emit`, `read`, `manage`, `admin`.
    public static let words: [(word: String, scope: Scopes)] = [
        ("emit", .emit), ("read", .read), ("manage", .manage), ("admin", .admin),
    ]

    /// True when `scope` is granted. `admin` grants every other scope.
    public func allow(_ scope: Scopes) -> Bool { contains(.admin) || contains(scope) }

    /// The names of the scopes, in the order of ``words``.
    public var names: [String] { Self.words.filter { contains($0.scope) }.map(\.word) }

    /// Reads scope names; nil when a name is unknown or the list is empty.
    public init?(names: [String]) {
        var scopes: Scopes = []
        for name in names {
            guard let known = Self.words.first(where: { $0.word == name }) else { return nil }
            scopes.insert(known.scope)
        }
        guard !scopes.isEmpty else { return nil }
        self = scopes
    }
}

/// The authenticated sender of a request: the app, the credential, and the rights of the credential. Every operation
/// takes a caller.
///
/// A value with one reference to its fields, so that passing a caller on copies no field. Setting a field copies all
/// fields.
public struct Caller: Sendable, Hashable {
    @usableFromInline struct Fields: Equatable, Sendable {
        @usableFromInline var app: AppID
        @usableFromInline var credential: String
        @usableFromInline var scopes: Scopes
        @usableFromInline var channels: [NamePattern]
        @usableFromInline var types: [NamePattern]
        @usableFromInline var user: ExactText?
        var expires: Timetoken?
        var proof: TokenProof?
        var readsOwnChannel = false
        var isOperator: Bool
        @usableFromInline var meters: RateMeters?
    }

    @usableFromInline final class Storage: Sendable {
        @usableFromInline let fields: Fields

        init(_ fields: Fields) { self.fields = fields }
    }

    @usableFromInline var storage: Storage

    private var fields: Fields {
        get { storage.fields }
        set { storage = Storage(newValue) }
    }

    /// Creates a caller with the rights of its credential.
    public init(
        app: AppID, credential: String, scopes: Scopes, channels: [NamePattern] = [.all],
        types: [NamePattern] = [.all], user: String? = nil, expires: Timetoken? = nil, isOperator: Bool = false,
        meters: RateMeters? = nil
    ) {
        storage = Storage(
            Fields(
                app: app, credential: credential, scopes: scopes, channels: channels, types: types,
                user: user.map { ExactText($0) }, expires: expires, isOperator: isOperator, meters: meters))
    }

    public static func == (left: Caller, right: Caller) -> Bool {
        left.storage === right.storage || left.storage.fields == right.storage.fields
    }

    /// Hashes the credential and its user. Callers with the same credential rarely differ in anything else, not even in
    /// the app.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(storage.fields.credential)
        hasher.combine(storage.fields.user)
    }

    /// The app that the request is for.
    @inlinable public var app: AppID { storage.fields.app }
    /// The id of the credential: `key_…`, the id of a ticket or token, or the name of a part of the gateway. Safe to
    /// log.
    public var credential: String { storage.fields.credential }
    /// The operations that the credential allows.
    public var scopes: Scopes {
        @inlinable get { storage.fields.scopes }
        set { fields.scopes = newValue }
    }
    /// The channels that the credential has access to.
    public var channels: [NamePattern] {
        get { storage.fields.channels }
        set { fields.channels = newValue }
    }
    /// The event types that the credential has access to.
    public var types: [NamePattern] { storage.fields.types }
    /// The time at which the credential expires; nil for a credential that does not expire.
    public var expires: Timetoken? {
        get { storage.fields.expires }
        set { fields.expires = newValue }
    }
    /// The properties of a user's token or ticket that show whether it was revoked; nil for an API key.
    public var proof: TokenProof? {
        get { storage.fields.proof }
        set { fields.proof = newValue }
    }
    /// True when the caller's user may also read the channel that has the user's name. Emitting on this channel
    /// requires a match in `channels`.
    public var readsOwnChannel: Bool { storage.fields.readsOwnChannel }
    /// True for an `admin` key of the first app that is not restricted to channels or types. Only such a caller may use
    /// `/apps` and the routes for operating the gateway.
    public var isOperator: Bool { storage.fields.isOperator }
    /// The rate limits of the caller; nil when there are none.
    public var meters: RateMeters? {
        @inlinable get { storage.fields.meters }
        set { fields.meters = newValue }
    }
    /// The only user that this credential may act as; nil when it may act as any user.
    public var user: String? {
        @inlinable get { storage.fields.user?.text }
        set { fields.user = newValue.map { ExactText($0) } }
    }

    /// A copy of this caller for a token or ticket that `key` created for a user. The copy may read the user's own
    /// channel regardless of `channels`, if `key` has access to that channel.
    public func readingOwnChannel(within key: Caller) -> Caller {
        var caller = self
        caller.fields.readsOwnChannel = user.map { key.reaches(channel: $0) } ?? false
        return caller
    }

    /// True when both callers may act as the same single user, or both as any user.
    public func hasSameUser(as other: Caller) -> Bool { storage.fields.user == other.storage.fields.user }

    /// A caller for the gateway's own actions in an app. It may do everything.
    public static func gateway(in app: AppID) -> Caller {
        Caller(app: app, credential: "gateway", scopes: [.admin])
    }
}

extension Caller {
    /// Requires a scope.
    ///
    /// - Throws: `.forbidden` naming the missing scope.
    public func require(_ scope: Scopes) throws(ChatError) {
        guard scopes.allow(scope) else {
            throw ChatError(.forbidden, "this credential lacks the scope '\(scope.names.joined(separator: ", "))'")
        }
    }

    /// True when the credential has access to the channel. Access to `$system` requires `admin`.
    public func reaches(channel: String) -> Bool {
        if channel == ChannelID.systemName { return scopes.contains(.admin) }
        return channels.match(channel)
    }

    /// True when the credential has access to every channel that the pattern can match. The exact name `$system`, which
    /// no other pattern matches, requires `admin`.
    public func reaches(channels pattern: NamePattern) -> Bool {
        if case .exact(let name) = pattern { return reaches(channel: name) }
        return channels.covers(pattern)
    }

    /// True when the credential may read the channel: the credential has access to the channel, or the channel has the
    /// name of the credential's user.
    public func reads(channel: String) -> Bool { reaches(channel: channel) || isOwn(channel) }

    private func isOwn(_ channel: String) -> Bool { readsOwnChannel && storage.fields.user == ExactText(channel) }

    /// The patterns of the channels that the caller may read: `channels`, and the user's own channel when `channels`
    /// does not match it.
    public var readableChannels: [NamePattern] {
        guard readsOwnChannel, let user, !channels.match(user) else { return channels }
        return channels + [.exact(user)]
    }

    /// Requires that the credential has access to a channel.
    ///
    /// - Throws: `.forbidden` naming the channel.
    public func require(channel: String) throws(ChatError) {
        guard reaches(channel: channel) else { throw Self.outOfReach(channel) }
    }

    /// Requires that the credential may read a channel.
    ///
    /// - Throws: `.forbidden` naming the channel.
    public func require(reading channel: String) throws(ChatError) {
        guard reads(channel: channel) else { throw Self.outOfReach(channel) }
    }

    private static func outOfReach(_ channel: String) -> ChatError {
        ChatError(.forbidden, "this credential has no access to channel '\(channel)'")
    }

    /// Requires that the credential has access to an event type.
    ///
    /// - Throws: `.forbidden` naming the type.
    public func require(type: String) throws(ChatError) {
        guard types.match(type) else {
            throw ChatError(.forbidden, "this credential has no access to the event type '\(type)'")
        }
    }

    /// Requires rights to the whole app. Used by the operations on the app's keys and settings.
    ///
    /// - Throws: `.forbidden` for a credential without `admin`, or one that is restricted to channels or types.
    public func demandWholeApp() throws(ChatError) {
        try require(.admin)
        try demandEveryChannel()
    }

    /// Requires access to every channel and type. Used by operations that affect a user in the whole app, such as
    /// operations on tokens and sessions.
    ///
    /// - Throws: `.forbidden` for a credential that is restricted to channels or types.
    public func demandEveryChannel() throws(ChatError) {
        guard reachesWholeApp else {
            throw ChatError(
                .forbidden,
                "this request needs a key with access to every channel and type ('*'); this key is restricted")
        }
    }

    /// True when the credential is not restricted to channels or types.
    public var reachesWholeApp: Bool { channels.contains(.all) && types.contains(.all) }

    /// Requires a credential that is not restricted to one user. Used by operations on events of all channels, which do
    /// not check membership.
    ///
    /// - Throws: `.forbidden` for a credential that is restricted to one user.
    public func demandNoUser() throws(ChatError) {
        guard user == nil else { throw ChatError(.forbidden, "this request needs an API key, not a user's credential") }
    }
}
