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
