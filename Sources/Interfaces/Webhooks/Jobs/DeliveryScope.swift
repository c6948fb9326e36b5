public import ChatCore
public import ChatModel

/// Which deliveries a job is about.
public struct DeliveryScope: Sendable {
    public enum Only: String, Sendable, CaseIterable {
        /// What has not been delivered: given up, or waiting for a retry.
        case failed
        /// What was given up.
        case dead
        /// Every event the webhook asks for now, found in the log: also what was delivered, and what was never planned.
        case all
    }

    /// Of this webhook; nil: of every webhook of the app.
    public var webhook: String?
    public var only: Only
    /// Events strictly between these.
    public var after: Timetoken
    public var before: Timetoken
    /// Narrow further; nil: any.
    public var types: [NamePattern]?
    public var channels: [NamePattern]?
    public var filter: Filter?
    /// What of it whoever asked may have: a webhook may still be owed events it was told of under wider settings. Nil: all.
    var reach: Reach?

    /// How far a credential reaches.
    struct Reach: Sendable {
        var channels: [NamePattern]
        var types: [NamePattern]
        /// `$system` too.
        var isAdmin: Bool

        init(channels: [NamePattern], types: [NamePattern], isAdmin: Bool) {
            self.channels = channels
            self.types = types
            self.isAdmin = isAdmin
        }

        init(_ caller: Caller) {
            let isAdmin = caller.reaches(channel: ChannelID.systemName)
            self.init(channels: caller.channels, types: caller.types, isAdmin: isAdmin)
        }

        var isEverything: Bool { isAdmin && channels.contains(.all) && types.contains(.all) }

        func admits(type: String, channel: String) -> Bool {
            types.match(type) && (channel == ChannelID.systemName ? isAdmin : channels.match(channel))
        }
    }

    public init(
        webhook: String? = nil, only: Only = .failed, after: Timetoken = .zero, before: Timetoken = .distantFuture,
        types: [NamePattern]? = nil, channels: [NamePattern]? = nil, filter: Filter? = nil
    ) {
        self.webhook = webhook
        self.only = only
        self.after = after
        self.before = before
        self.types = types
        self.channels = channels
        self.filter = filter
    }

    /// Whether every delivery of the queue's page belongs to it.
    var isWhole: Bool { types == nil && channels == nil && filter == nil && reach?.isEverything ?? true }

    var statuses: Set<DeliveryStatus> { only == .dead ? [.dead] : [.dead, .failed] }

    func query(in app: AppID, limit: Int) -> DeliveryQuery {
        var query = DeliveryQuery(app: app, limit: limit)
        query.subscriber = webhook
        query.statuses = statuses
        query.after = after
        query.before = before
        query.order = .oldestFirst
        return query
    }

    func admits(type: String, channel: String) -> Bool {
        types?.match(type) ?? true && channels?.match(channel) ?? true
            && reach?.admits(type: type, channel: channel) ?? true
    }

    func admits(_ event: Event) -> Bool {
        admits(type: event.type, channel: event.channel.name) && filter?.accepts(event) ?? true
    }
}
