/// One app (`product.md` 2): nothing is asked for, stored or matched without it.
public struct AppID: Hashable, Sendable, CustomStringConvertible {
    @ExactText public private(set) var name: String
    public init(_ name: String) { self.name = name }
    public var description: String { name }

    /// Where the gateway keeps what belongs to no app: the apps themselves, and names unique in the installation.
    public static let gateway = AppID("$gateway")
}

/// A channel of an app.
public struct ChannelID: Hashable, Sendable, CustomStringConvertible {
    public let app: AppID
    @ExactText public private(set) var name: String

    public init(_ name: String, in app: AppID) {
        self.app = app
        self.name = name
    }

    public var description: String { name }

    /// Where the gateway reports to the app's operators; read with scope `admin` only (`product.md` 5).
    public static let systemName = "$system"
    public var isSystem: Bool { name == Self.systemName }
}

/// A user of an app.
public struct UserID: Hashable, Sendable, CustomStringConvertible {
    public let app: AppID
    @ExactText public private(set) var name: String

    public init(_ name: String, in app: AppID) {
        self.app = app
        self.name = name
    }

    public var description: String { name }
}

/// A webhook of an app. Code says endpoint, so that it is not confused with the module Webhooks.
public struct SubscriberID: Hashable, Sendable, CustomStringConvertible {
    public let app: AppID
    @ExactText public private(set) var name: String

    public init(_ name: String, in app: AppID) {
        self.app = app
        self.name = name
    }

    public var description: String { name }
}

/// What somebody does on a channel for as long as there are signs of it.
public enum PresenceKind: Sendable, CaseIterable {
    /// Is there, and shows it: presence.
    case occupant
    /// Has entered the open channel. Held by all of the user's connections: who enters with one device is inside with each.
    case participant
    /// Types.
    case typist
}

/// Where seats of one kind are.
public struct PresenceScope: Hashable, Sendable {
    public let kind: PresenceKind
    public let channel: ChannelID

    public init(_ kind: PresenceKind, _ channel: ChannelID) {
        self.kind = kind
        self.channel = channel
    }
}

/// A user in a venue. There is one for each user, whatever number of devices hold it.
public struct PresenceKey: Hashable, Sendable {
    public let presenceScope: PresenceScope
    @ExactText public private(set) var user: String

    public init(_ kind: PresenceKind, of user: String, on channel: ChannelID) {
        presenceScope = PresenceScope(kind, channel)
        self.user = user
    }

    public var kind: PresenceKind { presenceScope.kind }
    public var channel: ChannelID { presenceScope.channel }
}

/// A connection of a user that keeps seats: a stream, a poll. Unique in the installation.
public struct HolderID: Hashable, Sendable {
    @ExactText public private(set) var text: String
    public init(_ text: String) { self.text = text }
}
