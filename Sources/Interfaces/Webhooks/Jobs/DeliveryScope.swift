public import ChatCore
public import ChatModel

/// Selects the deliveries of a job.
public struct DeliveryScope: Sendable {
    /// Selects deliveries by their state.
    public enum Only: String, Sendable, CaseIterable {
        /// Deliveries that have failed: dead deliveries, and deliveries that wait for a retry.
        case failed
        /// Dead deliveries: all of their attempts failed, or they were dropped without an attempt.
        case dead
        /// All events of the log that match the webhook now, including events that were delivered or never planned.
        case all
    }

    /// The webhook whose deliveries are selected; nil for every webhook of the app.
    public var webhook: String?
    /// The states of the selected deliveries.
    public var only: Only
    /// The lower bound of the events, exclusive.
    public var after: Timetoken
    /// The upper bound of the events, exclusive.
    public var before: Timetoken
    /// Patterns of event types; nil for any type.
    public var types: [NamePattern]?
    /// Patterns of channels; nil for any channel.
    public var channels: [NamePattern]?
    /// A filter on the events; nil for any event.
    public var filter: Filter?
    /// The channels and types that the caller may read; nil for all. They exclude deliveries that were planned under
    /// earlier, wider settings of the webhook.
    var reach: Reach?

    /// The channels and types that a credential covers.
    struct Reach: Sendable {
        var channels: [NamePattern]
        var types: [NamePattern]
        /// True when the credential also covers `$system`.
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

    /// Creates a scope.
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

    /// True when the scope selects every delivery of a page of the queue.
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
