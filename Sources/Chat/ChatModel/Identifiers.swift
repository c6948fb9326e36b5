import Synchronization

/// The name of an app. Every request and every record belongs to one app.
public struct AppID: Hashable, Sendable, CustomStringConvertible {
    /// The name, used as the app's id in the API.
    @ExactText public private(set) var name: String
    /// Creates the id of the app with this name.
    public init(_ name: String) { self.name = name }
    public var description: String { name }

    /// The app id under which the gateway stores data that belongs to no app: the list of apps, and names that are
    /// unique in the installation.
    public static let gateway = AppID("$gateway")
}

/// A channel of an app.
public struct ChannelID: Hashable, Sendable, CustomStringConvertible {
    /// The app of the channel.
    public let app: AppID
    /// The name, unique in the app.
    @ExactText public private(set) var name: String

    /// Creates the id of the channel with this name.
    public init(_ name: String, in app: AppID) {
        self.app = app
        self.name = name
    }

    public var description: String { name }

    /// The name of the channel with the gateway's reports to the app's operators. Reading it requires the scope
    /// `admin`.
    public static let systemName = "$system"
    /// True for `$system`, the channel of the gateway's own reports.
    public var isSystem: Bool { name == Self.systemName }
}

/// A user of an app.
public struct UserID: Hashable, Sendable, CustomStringConvertible {
    /// The app of the user.
    public let app: AppID
    /// The name, used as the user's id in the API.
    @ExactText public private(set) var name: String

    /// Creates the id of the user with this name.
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

    /// Creates the id of a subscriber in an app.
    public init(_ name: String, in app: AppID) {
        self.app = app
        self.name = name
    }

    public var description: String { name }
}

/// The kind of a user's temporary presence on a channel, which is only in memory.
public enum PresenceKind: Sendable, CaseIterable {
    /// The user is present and visible to others.
    case occupant
    /// The user has entered the open channel. Entering with one device counts for all devices of the user.
    case participant
    /// The user is typing.
    case typingUser
}

/// A channel with one kind of presence on it, for example the typing users of a channel.
public struct PresenceScope: Hashable, Sendable {
    /// The kind of presence.
    public let kind: PresenceKind
    /// The channel that users are present on.
    public let channel: ChannelID

    /// Creates the scope of one kind of presence on a channel.
    public init(_ kind: PresenceKind, _ channel: ChannelID) {
        self.kind = kind
        self.channel = channel
    }
}

/// One user in a presence scope. The user has one key in the scope, regardless of the number of connections that hold
/// it.
public struct PresenceKey: Hashable, Sendable {
    /// The channel, and the kind of the user's presence on it.
    public let presenceScope: PresenceScope
    /// The user's name.
    @ExactText public private(set) var user: String

    /// Creates the key of a user's presence on a channel.
    public init(_ kind: PresenceKind, of user: String, on channel: ChannelID) {
        presenceScope = PresenceScope(kind, channel)
        self.user = user
    }

    /// The kind of presence.
    public var kind: PresenceKind { presenceScope.kind }
    /// The channel that the user is present on.
    public var channel: ChannelID { presenceScope.channel }
}

/// The name of a user's connection (a stream or a poll) that holds presence keys.
public struct HolderID: Hashable, Sendable {
    /// The name, unique among the connections of a node.
    @ExactText public private(set) var text: String
    /// Creates the name of a connection from a text.
    public init(_ text: String) { self.text = text }

    private static let polls = Atomic<UInt64>(0)

    /// Creates the name of a new poll: a number. The name is short enough for Swift to store it without an allocation.
    public static func ofPoll() -> HolderID { HolderID(String(polls.wrappingAdd(1, ordering: .relaxed).newValue)) }
}
