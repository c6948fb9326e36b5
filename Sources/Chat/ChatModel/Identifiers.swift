/// The name of an app. Every request, record and match is scoped to one app.
public struct AppID: Hashable, Sendable, CustomStringConvertible {
    /// The name, which is the app's id in the API.
    @ExactText public private(set) var name: String
    /// The app with this name.
    public init(_ name: String) { self.name = name }
    public var description: String { name }

    /// The scope of everything that belongs to no app: the list of apps, and names unique in the installation.
    public static let gateway = AppID("$gateway")
}

/// A channel of an app.
public struct ChannelID: Hashable, Sendable, CustomStringConvertible {
    /// The app of the channel.
    public let app: AppID
    /// The name, unique in the app.
    @ExactText public private(set) var name: String

    /// The channel with this name.
    public init(_ name: String, in app: AppID) {
        self.app = app
        self.name = name
    }

    public var description: String { name }

    /// The channel of the gateway's reports to the app's operators. Reading it requires the scope `admin`.
    public static let systemName = "$system"
    /// True for `$system`, the channel of the gateway's own reports.
    public var isSystem: Bool { name == Self.systemName }
}

/// A user of an app.
public struct UserID: Hashable, Sendable, CustomStringConvertible {
    /// The app of the user.
    public let app: AppID
    /// The name, which is the user's id in the API.
    @ExactText public private(set) var name: String

    /// The user with this name.
    public init(_ name: String, in app: AppID) {
        self.app = app
        self.name = name
    }

    public var description: String { name }
}

/// A webhook or a pull subscription of an app.
public struct SubscriberID: Hashable, Sendable, CustomStringConvertible {
    /// The app of the subscriber.
    public let app: AppID
    /// The id, unique in the app.
    @ExactText public private(set) var name: String

    /// The subscriber with this name.
    public init(_ name: String, in app: AppID) {
        self.app = app
        self.name = name
    }

    public var description: String { name }
}

/// The kind of a user's temporary presence on a channel.
public enum PresenceKind: Sendable, CaseIterable {
    /// The user is present and visible to others.
    case occupant
    /// The user has entered the open channel. All connections of the user hold this: entering with one device counts
    /// for all.
    case participant
    /// The user is typing.
    case typingUser
}

/// A kind of presence on a channel.
public struct PresenceScope: Hashable, Sendable {
    /// The kind of presence.
    public let kind: PresenceKind
    /// The channel that users are present on.
    public let channel: ChannelID

    /// A kind of presence on one channel.
    public init(_ kind: PresenceKind, _ channel: ChannelID) {
        self.kind = kind
        self.channel = channel
    }
}

/// One user in a presence scope. A user has one key there, regardless of the number of devices that hold it.
public struct PresenceKey: Hashable, Sendable {
    /// The kind of presence and the channel.
    public let presenceScope: PresenceScope
    /// The user's name.
    @ExactText public private(set) var user: String

    /// The presence of a user on a channel.
    public init(_ kind: PresenceKind, of user: String, on channel: ChannelID) {
        presenceScope = PresenceScope(kind, channel)
        self.user = user
    }

    /// The kind of presence.
    public var kind: PresenceKind { presenceScope.kind }
    /// The channel that the user is present on.
    public var channel: ChannelID { presenceScope.channel }
}

/// A connection of a user (a stream or a poll) that holds presence keys. Unique in the installation.
public struct HolderID: Hashable, Sendable {
    /// The name, unique in the installation.
    @ExactText public private(set) var text: String
    /// The holder with this name.
    public init(_ text: String) { self.text = text }
}
