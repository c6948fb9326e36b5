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
