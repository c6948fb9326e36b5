public import ChatCore
public import ChatModel
public import JSON

/// A queue of deliveries that a consumer without a public address pulls. The deliveries have the same content as the
/// deliveries to a webhook.
public struct Subscription: Sendable {
    /// The id, `sub_…`. Ids are never reused.
    public var id: String
    /// The app of the subscription.
    public var app: AppID
    /// The settings that its owner chooses.
    public var settings: SubscriptionSettings
    /// The position in the event log after which events match: the end of the log when the subscription was created.
    public var since: Timetoken
    /// The time of creation.
    public var created: Timetoken
    /// The time of the last change.
    public var updated: Timetoken
    /// An opaque version for `ETag` and `If-Match`. It changes with each change of the record.
    public var etag = ""
    /// The number of deliveries that wait to be pulled or acknowledged, at most ``mostBacklog``. The number is not part
    /// of the record; it is counted when the record is read.
    var backlog = 0
    /// True when the subscription was deleted. A deleted subscription is not listed. Its record is removed when its
    /// waiting deliveries have become dead.
    var isDeleted = false

    /// The number of deliveries at which counting the backlog stops, because an exact count would make lists slow. A
    /// count equal to this number means "at least this number".
    static let mostBacklog = 1000

    /// The key of the subscription in the queue.
    var subscriber: SubscriberID { SubscriberID(id, in: app) }

    /// The settings of the subscription's lane. A lane is the part of the queue with the deliveries of one subscriber.
    var lane: LaneSettings {
        var lane = LaneSettings(concurrency: settings.outstanding)
        lane.ordering = settings.ordering
        lane.isPulled = true
        lane.attempts = settings.attempts
        return lane
    }
}

/// The settings that the owner of a subscription chooses.
public struct SubscriptionSettings: Sendable {
    /// The permitted `ackDeadline`, in seconds.
    public static let deadlines = 10...600
    /// The permitted values of `outstanding`.
    public static let outstandingRange = 1...10_000
    /// The permitted values of `attempts`.
    public static let attemptsRange = 1...100

    /// The types to match. As for webhooks, `*` excludes the frequent types.
    public var types: [NamePattern] = [.all]
    /// The channels to match. As for webhooks, `*` excludes `$system`.
    public var channels: [NamePattern] = [.all]
    /// A filter on the events; nil for all events.
    public var filter: Filter?
    /// A description for human readers.
    public var description = ""
    /// The time in which a pulled delivery must be acknowledged. After that, the delivery can be pulled again.
    public var ackDeadline: Duration = .seconds(30)
    /// The maximum number of pulled deliveries that are not acknowledged yet.
    public var outstanding = 1000
    /// The order in which deliveries are pulled.
    public var ordering = DeliveryOrdering.none
    /// The maximum number of times that a delivery is pulled. After that, the delivery is dead.
    public var attempts = 10
    /// The objects to include with each event, in the envelope's member `included`.
    public var included: Set<IncludedObject> = []

    /// Creates the default settings.
    public init() {}

    /// The settings that select events, in the form of a webhook's settings. The matcher uses them, and the caller must
    /// have access to the events that they select.
    var selection: WebhookSettings {
        var selection = WebhookSettings(url: "", types: types, channels: channels, filter: filter)
        selection.included = included
        return selection
    }
}

extension Subscription {
    static func recordKey(of subscriber: SubscriberID) -> RecordKey {
        RecordKey(.subscription, subscriber.name, in: subscriber.app)
    }

    /// The form in which the subscription is stored as a record.
    var body: JSONText {
        JSONText(capacity: 512) { writer in
            writer.beginObject()
            settings.print(to: &writer)
            writer.member("since", since.description)
            writer.member("created", created.description)
            if isDeleted { writer.member("deleted", true) }
            writer.endObject()
        }
    }

    /// Parses a record; nil when it is not a valid subscription. A filter that no longer compiles makes the record
    /// invalid, because the subscription would match every event without its filter.
    ///
    /// - Parameter compilesFilter: false for a subscription that is only shown.
    init?(_ record: Record, compilesFilter: Bool = true) {
        // The record is damaged, or a newer version has written it. The caller reports it.
        guard let root = (try? JSONDocument(record.body))?.root, let types = root["types"]?.strings,
            let channels = root["channels"]?.strings, let since = root["since"]?.string.flatMap(Timetoken.init(text:)),
            let created = root["created"]?.string.flatMap(Timetoken.init(text:))
        else { return nil }
        var settings = SubscriptionSettings()
        settings.types = types.compactMap { NamePattern($0) }
        settings.channels = channels.compactMap { NamePattern($0) }
        if let text = root["filter"]?.string {
            guard let filter = Filter(ofRecord: text, compiles: compilesFilter) else { return nil }
            settings.filter = filter
        }
        settings.description = root["description"]?.string ?? ""
        settings.included = IncludedObject.objects(named: root["include"]?.strings ?? []).objects
        func whole(_ name: String) -> Int? { root[name]?.integer.flatMap { Int(exactly: $0) } }
        settings.ackDeadline = whole("ack_deadline_seconds").map { .seconds($0) } ?? settings.ackDeadline
        settings.outstanding = whole("max_outstanding") ?? settings.outstanding
        settings.attempts = whole("max_attempts") ?? settings.attempts
        settings.ordering = DeliveryOrdering.words.first { $0.word == root["ordering"]?.string }?.value ?? .none
        self.init(
            id: record.key.id, app: record.key.app, settings: settings, since: since, created: created,
            updated: record.updated, etag: record.etag)
        isDeleted = root["deleted"]?.boolean ?? false
    }

    /// Prints the subscription as the native API shows it.
    public func print(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("id", id)
        settings.print(to: &writer)
        writer.member("backlog", backlog)
        writer.member("created_at", created.timestamp)
        writer.member("etag", etag)
        writer.member("updated_at", updated.timestamp)
        writer.endObject()
    }
}

extension SubscriptionSettings {
    fileprivate func print(to writer: inout JSONWriter) {
        writer.member("types", types.map(\.description))
        writer.member("channels", channels.map(\.description))
        writer.optionalMember("filter", filter?.text)
        writer.member("description", description)
        if !included.isEmpty { writer.member("include", IncludedObject.names(of: included)) }
        writer.member("ack_deadline_seconds", Int(ackDeadline.components.seconds))
        writer.member("max_outstanding", outstanding)
        writer.member("ordering", ordering.word)
        writer.member("max_attempts", attempts)
    }
}
