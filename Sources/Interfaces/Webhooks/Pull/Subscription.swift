public import ChatCore
public import ChatModel
public import JSON

/// What a consumer without a public address takes from the queue itself, instead of being told: the same deliveries, asked for.
public struct Subscription: Sendable {
    /// `sub_…`, never used again.
    public var id: String
    public var app: AppID
    public var settings: SubscriptionSettings
    /// Only later events are matched: the watermark when the subscription was made.
    public var since: Timetoken
    public var created: Timetoken
    public var updated: Timetoken
    /// Opaque, for `ETag` and `If-Match`; changes with each change of the record.
    public var etag = ""
    /// Deliveries that wait to be pulled or acknowledged, counted up to ``mostBacklog``. Not stored: read with the record.
    var backlog = 0
    /// Nobody sees it any more; its record stays until what waits for it is given up.
    var isDeleted = false

    /// A backlog that reaches this is a lower bound: counting more would make lists slow.
    static let mostBacklog = 1000

    public var subscriber: SubscriberID { SubscriberID(id, in: app) }

    /// How the queue is to treat it.
    var lane: LaneSettings {
        var lane = LaneSettings(concurrency: settings.outstanding)
        lane.ordering = settings.ordering
        lane.isPulled = true
        lane.attempts = settings.attempts
        return lane
    }
}

/// What the owner of a subscription decides.
public struct SubscriptionSettings: Sendable {
    public static let deadlines = 10...600
    public static let outstandingRange = 1...10_000
    public static let attemptsRange = 1...100

    /// As a webhook's: `*` leaves out the chatty types.
    public var types: [NamePattern] = [.all]
    /// As a webhook's: `*` leaves out `$system`.
    public var channels: [NamePattern] = [.all]
    public var filter: Filter?
    public var description = ""
    /// How long a delivery that was pulled waits for its acknowledgement before it is given out again.
    public var ackDeadline: Duration = .seconds(30)
    /// Deliveries that may be out at once.
    public var outstanding = 1000
    public var ordering = DeliveryOrdering.none
    /// Times a delivery is given out; then it is dead.
    public var attempts = 10
    /// Objects to hand out beside each event, in the envelope's member `included`.
    public var included: Set<IncludedObject> = []

    public init() {}

    /// The part that is matched, as the matcher knows it, and what takes rights to set.
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

    /// What the directory keeps.
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

    /// Nil for a record that is no subscription of ours. A filter that no longer compiles makes it one: without its filter
    /// it would be told of everything.
    ///
    /// - Parameter compilesFilter: false for a record that is only shown.
    init?(_ record: Record, compilesFilter: Bool = true) {
        // Damaged or of a newer version: the caller says so.
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

    /// Prints it as the native API shows it.
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
