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
        /// All events of the log that match the webhook now, including events that were already delivered and events
        /// that never had a delivery.
        case all
    }

    /// The webhook whose deliveries are selected; nil for every webhook of the app.
    public var webhook: String?
    /// The states of the selected deliveries.
    public var only: Only
    /// Selects deliveries of events whose timetokens are greater than this value.
    public var after: Timetoken
    /// Selects deliveries of events whose timetokens are less than this value.
    public var before: Timetoken
    /// Patterns of event types; nil for any type.
    public var types: [NamePattern]?
    /// Patterns of channels; nil for any channel.
    public var channels: [NamePattern]?
    /// A filter on the events; nil for any event.
    public var filter: Filter?
    /// The channels and types of events that the job's creator may read; nil for all. Older deliveries of a webhook may
    /// have been created under wider settings. Deliveries of events that the creator may not read are not selected.
    var reach: Reach?

    /// The channels and types that a credential covers.
    struct Reach: Sendable {
        var channels: [NamePattern]
        var types: [NamePattern]
        /// True when the credential also covers the channel `$system`, whatever `channels` contains.
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

    /// Creates a scope with the given conditions and with no limit on the readable channels and types (`reach`).
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

    /// True when the scope has no condition on type, channel, filter or readable events. Every delivery of a page read
    /// from the queue is then selected.
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
