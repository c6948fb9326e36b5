/// What a credential allows (`product.md` 5).
public struct Scopes: OptionSet, Hashable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    public static let emit = Scopes(rawValue: 1)
    public static let read = Scopes(rawValue: 2)
    /// The app's resources: webhooks, sources, schemas.
    public static let manage = Scopes(rawValue: 4)
    /// All of it, and the app's keys.
    public static let admin = Scopes(rawValue: 8)

    /// The four words in their order.
    public static let words: [(word: String, scope: Scopes)] = [
        ("emit", .emit), ("read", .read), ("manage", .manage), ("admin", .admin),
    ]

    /// Whether `scope` is granted; `admin` grants every other.
    public func allow(_ scope: Scopes) -> Bool { contains(.admin) || contains(scope) }

    public var names: [String] { Self.words.filter { contains($0.scope) }.map(\.word) }

    /// Reads the words; nil when one is unknown or there is none.
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

/// The author of a request, the app it is for, and what its credential allows. Every operation takes one.
public struct Caller: Sendable, Hashable {
    public var app: AppID
    /// The credential: `key_…`, a ticket's or token's id, or a name of the gateway's own parts. Safe to log.
    public var credential: String
    public var scopes: Scopes
    public var channels: [NamePattern]
    public var types: [NamePattern]
    private var exactUser: ExactText?
    public var expires: Timetoken?
    /// Set where a token of a user, or a ticket, was shown in place of an API key.
    public var proof: TokenProof?
    /// Whether the user's own channel, the one named like the user, can be read beside `channels`. Emitting there takes
    /// `channels`.
    public private(set) var readsOwnChannel = false
    /// An `admin` key of the first app that reaches everything: sees `/apps` and operation (`product.md` 5).
    public var isOperator: Bool
    /// What holds it to its rates; nil where there are none.
    public var meters: RateMeters?

    public init(
        app: AppID, credential: String, scopes: Scopes, channels: [NamePattern] = [.all],
        types: [NamePattern] = [.all], user: String? = nil, expires: Timetoken? = nil, isOperator: Bool = false
    ) {
        self.app = app
        self.credential = credential
        self.scopes = scopes
        self.channels = channels
        self.types = types
        exactUser = user.map { ExactText($0) }
        self.expires = expires
        self.isOperator = isOperator
    }

    /// The one user this credential speaks for; nil when it may name any.
    public var user: String? {
        get { exactUser?.text }
        set { exactUser = newValue.map { ExactText($0) } }
    }

    /// The credential of its user, made with `key`: the user's own channel can be read whatever `channels` say, as long as the
    /// key reaches it.
    public func readingOwnChannel(within key: Caller) -> Caller {
        var caller = self
        caller.readsOwnChannel = user.map { key.reaches(channel: $0) } ?? false
        return caller
    }

    /// Whether both speak for the same user, or both for any.
    public func hasSameUser(as other: Caller) -> Bool { exactUser == other.exactUser }

    /// The gateway acting for itself in an app.
    public static func gateway(in app: AppID) -> Caller {
        Caller(app: app, credential: "gateway", scopes: [.admin])
    }
}

extension Caller {
    /// - Throws: `.forbidden` naming the missing scope.
    public func demand(_ scope: Scopes) throws(ChatError) {
        guard scopes.allow(scope) else {
            throw ChatError(.forbidden, "this credential lacks the scope '\(scope.names.joined(separator: ", "))'")
        }
    }

    /// Whether the credential reaches the channel. `$system` needs `admin` (`product.md` 5).
    public func reaches(channel: String) -> Bool {
        if channel == ChannelID.systemName { return scopes.contains(.admin) }
        return channels.match(channel)
    }

    /// Whether the credential can read the channel: one that it reaches, or its user's own.
    public func reads(channel: String) -> Bool { reaches(channel: channel) || isOwn(channel) }

    private func isOwn(_ channel: String) -> Bool { readsOwnChannel && exactUser == ExactText(channel) }

    /// The channels that can be read: `channels`, and the user's own where they leave it out.
    public var readableChannels: [NamePattern] {
        guard readsOwnChannel, let user, !channels.match(user) else { return channels }
        return channels + [.exact(user)]
    }

    /// - Throws: `.forbidden` naming the channel.
    public func demand(channel: String) throws(ChatError) {
        guard reaches(channel: channel) else { throw Self.outOfReach(channel) }
    }

    /// - Throws: `.forbidden` naming the channel.
    public func demand(reading channel: String) throws(ChatError) {
        guard reads(channel: channel) else { throw Self.outOfReach(channel) }
    }

    private static func outOfReach(_ channel: String) -> ChatError {
        ChatError(.forbidden, "this credential does not reach channel '\(channel)'")
    }

    /// - Throws: `.forbidden` naming the type.
    public func demand(type: String) throws(ChatError) {
        guard types.match(type) else {
            throw ChatError(.forbidden, "this credential does not reach type '\(type)'")
        }
    }

    /// For what concerns a whole app: its keys and its settings.
    ///
    /// - Throws: `.forbidden` without `admin`, and to a credential that is narrowed to channels or types.
    public func demandWholeApp() throws(ChatError) {
        try demand(.admin)
        try demandEveryChannel()
    }

    /// For what concerns a user wherever the user is: tokens, sessions.
    ///
    /// - Throws: `.forbidden` to a credential that is narrowed to channels or types.
    public func demandEveryChannel() throws(ChatError) {
        guard reachesWholeApp else {
            throw ChatError(
                .forbidden, "this takes a key that reaches every channel and type ('*'); this one is narrowed")
        }
    }

    /// Whether no channel and no type is beyond it.
    public var reachesWholeApp: Bool { channels.contains(.all) && types.contains(.all) }

    /// For what shows or holds events of all channels alike: no place in a channel is asked for there.
    ///
    /// - Throws: `.forbidden` to a credential of one user.
    public func demandNoUser() throws(ChatError) {
        guard user == nil else { throw ChatError(.forbidden, "this needs an API key, not a user's credential") }
    }
}
