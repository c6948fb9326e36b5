import ChatCore
import ChatModel
import HTTPServer
import JSON
import Webhooks

extension NativeAPI {
    private static let pullMost = 1...250
    private static let pullWaitSeconds = 0...25
    private static let nackDelaySeconds = 0...86_400

    /// `GET /v1/subscriptions`: returns a page of the app's pull subscriptions.
    func getSubscriptions(_ request: Request, _ caller: Caller) async throws -> Response {
        let listing = try Listing(Parameters(request.query, known: Listing.timedNames), of: request, limits: limits)
        let page = try await webhooks.subscriptions.list(listing.list, by: caller)
        return Listing.response(page, to: request) { $0.print(to: &$1) }
    }

    /// `POST /v1/subscriptions`: creates a pull subscription and returns it with status 201.
    func postSubscription(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        try caller.require(.manage)
        let fields = try Fields(request.body.bytes, limits: limits, known: SubscriptionSettings.members)
        var settings = SubscriptionSettings()
        try settings.merge(fields, limits: limits)
        let made = try await webhooks.subscriptions.create(settings, by: caller)
        return Self.response(made, status: 201, headers: [("Location", "/v1/subscriptions/" + made.id)])
    }

    /// `GET /v1/subscriptions/{id}`: returns a pull subscription, or 304 when the client has the current version.
    func getSubscription(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let subscription = try await webhooks.subscriptions.subscription(request.name("id"), by: caller)
        return Self.response(subscription).unlessKnown(version: subscription.etag, to: request.headers)
    }

    /// `PATCH /v1/subscriptions/{id}`: changes a pull subscription by a merge patch (RFC 7396).
    func patchSubscription(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        try caller.require(.manage)
        let fields = try requiredFields(request, known: SubscriptionSettings.members)
        let etag = try await requiredSubscriptionTag(request, caller)
        let limits = limits
        let changed = try await webhooks.subscriptions.change(
            request.name("id"), ifMatch: etag, by: caller
        ) { (settings) throws(ChatError) in try settings.merge(fields, limits: limits) }
        return Self.response(changed)
    }

    /// `DELETE /v1/subscriptions/{id}`: removes a pull subscription. Returns no content.
    func deleteSubscription(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let etag = try await requiredSubscriptionTag(request, caller)
        try await webhooks.subscriptions.delete(request.name("id"), ifMatch: etag, by: caller)
        return .empty()
    }

    /// `POST /v1/subscriptions/{id}/pull`: returns the next deliveries of a subscription, and waits if there are none.
    func pullSubscription(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try optionalFields(request, known: ["limit", "wait_seconds"])
        let most = try fields?.integer("limit", in: Self.pullMost) ?? 100
        let wait = try fields?.integer("wait_seconds", in: Self.pullWaitSeconds) ?? 0
        let events = try await webhooks.subscriptions.pull(
            request.name("id"), most: most, waitSeconds: wait, by: caller)
        var writer = JSONWriter(capacity: events.reduce(64) { $0 + 128 + $1.envelope.count })
        writer.beginObject()
        writer.key("data")
        writer.beginArray()
        for event in events {
            writer.beginObject()
            writer.member("ack_id", event.ackID)
            writer.member("attempt", event.attempt)
            writer.key("event")
            writer.raw(JSONText(trusted: event.envelope))
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return .json(writer.bytes, headers: [Self.noStore])
    }

    /// `POST /v1/subscriptions/{id}/ack`: acknowledges pulled deliveries, so that they are not delivered again. Returns
    /// a result for each delivery: `acknowledged` or `lost`.
    func acknowledge(_ request: Request, _ caller: Caller) async throws -> Response {
        let (ids, _) = try ackIDs(request, known: [])
        let done = try await webhooks.subscriptions.acknowledge(ids, of: request.name("id"), by: caller)
        return Self.results(ids, done, "acknowledged")
    }

    /// `POST /v1/subscriptions/{id}/nack`: returns pulled deliveries to the queue, to be delivered again after a delay.
    /// Returns a result for each delivery: `returned` or `lost`.
    func refuseDeliveries(_ request: Request, _ caller: Caller) async throws -> Response {
        let (ids, fields) = try ackIDs(request, known: ["delay_seconds"])
        let delay = try fields.integer("delay_seconds", in: Self.nackDelaySeconds) ?? 0
        let done = try await webhooks.subscriptions.refuse(
            ids, of: request.name("id"), delay: .seconds(delay), by: caller)
        return Self.results(ids, done, "returned")
    }

    /// `POST /v1/subscriptions/{id}/extend`: extends the deadlines of pulled deliveries. Returns a result for each
    /// delivery: `extended` or `lost`.
    func extendDeliveries(_ request: Request, _ caller: Caller) async throws -> Response {
        let (ids, fields) = try ackIDs(request, known: ["seconds"])
        let seconds = try fields.required("seconds", fields.integer("seconds", in: SubscriptionSettings.deadlines))
        let done = try await webhooks.subscriptions.extend(
            ids, of: request.name("id"), by: .seconds(seconds), by: caller)
        return Self.results(ids, done, "extended")
    }

    /// `POST /v1/subscriptions/{id}/seek`: moves a subscription to an earlier or later position in the log. Returns the
    /// numbers of skipped and replayed deliveries and the position that was reached.
    func seekSubscription(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try Fields(request.body.bytes, limits: limits, known: ["to"])
        let text = try fields.required("to", fields.string("to"))
        let bounds = try await webhooks.subscriptions.bounds(of: caller.app)
        let position: Timetoken? =
            switch text {
            case "earliest": bounds.earliest
            case "latest": bounds.latest
            default: Timetoken(position: text)
            }
        guard let position else {
            throw fields.fault(
                "to", "enum",
                "must be 'earliest', 'latest', a timetoken of 17 digits, an event id, or an RFC 3339 time"
            )
        }
        let outcome = try await webhooks.subscriptions.seek(request.name("id"), to: position, by: caller)
        var writer = JSONWriter(capacity: 128)
        writer.beginObject()
        writer.member("skipped", outcome.skipped)
        writer.member("replayed", outcome.replayed)
        writer.member("complete", outcome.isComplete)
        writer.member("reached", outcome.reached.description)
        writer.endObject()
        return .json(writer.bytes)
    }

    private func ackIDs(_ request: Request, known: [String]) throws -> (ids: [String], fields: Fields) {
        _ = try Parameters(request.query, known: [])
        let fields = try Fields(request.body.bytes, limits: limits, known: ["ack_ids"] + known)
        let ids = try fields.required("ack_ids", fields.strings("ack_ids"))
        guard (1...Subscriptions.mostIDs).contains(ids.count) else {
            throw fields.fault("ack_ids", "range", "must have 1 to \(Subscriptions.mostIDs) ids")
        }
        return (ids, fields)
    }

    /// The results of the deliveries, in the order of `ids`.
    private static func results(_ ids: [String], _ done: [Bool], _ word: String) -> Response {
        var writer = JSONWriter(capacity: ids.count * 64 + 16)
        writer.beginObject()
        writer.key("data")
        writer.beginArray()
        for (id, isDone) in zip(ids, done) {
            writer.beginObject()
            writer.member("ack_id", id)
            writer.member("result", isDone ? word : "lost")
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return .json(writer.bytes)
    }

    private func requiredSubscriptionTag(_ request: Request, _ caller: Caller) async throws -> String? {
        try await Precondition(request.headers).etag {
            try await webhooks.subscriptions.subscription(request.name("id"), by: caller).etag
        }
    }

    private static func response(
        _ subscription: Subscription, status: Int = 200, headers: [(name: String, value: String)] = []
    ) -> Response {
        .json(
            JSONText { subscription.print(to: &$0) }.bytes, status: status,
            headers: [("ETag", EntityTag.quoted(subscription.etag))] + headers)
    }
}

extension SubscriptionSettings {
    static let members = [
        "types", "channels", "filter", "description", "ack_deadline_seconds", "max_outstanding", "ordering",
        "max_attempts", Parameters.include,
    ]

    /// Changes these settings to the values in a request's body. An absent member keeps its value, and `null` restores
    /// the default.
    fileprivate mutating func merge(_ fields: Fields, limits: Limits) throws(ChatError) {
        let defaults = SubscriptionSettings()
        if fields.has("types") {
            types = try fields.typePatterns("types", most: limits.streamChannels) ?? [.all]
        }
        if fields.has("channels") {
            channels = try fields.channelPatterns("channels", most: limits.streamChannels) ?? [.all]
        }
        if fields.has(Parameters.include) { included = try Self.included(fields) }
        if fields.has("filter") { filter = try Self.filter(fields, limits) }
        if fields.has("description") {
            description = try fields.string("description") ?? ""
            guard description.utf8.count <= 1000 else {
                throw fields.fault("description", "maxLength", "must be at most 1000 bytes")
            }
        }
        if fields.has("ack_deadline_seconds") {
            let seconds = try fields.integer("ack_deadline_seconds", in: Self.deadlines)
            ackDeadline = seconds.map { .seconds($0) } ?? defaults.ackDeadline
        }
        if fields.has("max_outstanding") {
            outstanding =
                try fields.integer("max_outstanding", in: Self.outstandingRange) ?? defaults.outstanding
        }
        if fields.has("max_attempts") {
            attempts = try fields.integer("max_attempts", in: Self.attemptsRange) ?? defaults.attempts
        }
        guard fields.has("ordering") else { return }
        let word = try fields.string("ordering") ?? "none"
        guard let known = DeliveryOrdering(word: word) else {
            throw fields.fault("ordering", "enum", "must be none, per_channel or strict")
        }
        ordering = known
    }

    private static func included(_ fields: Fields) throws(ChatError) -> Set<IncludedObject> {
        let (objects, unknown) = IncludedObject.objects(named: try fields.strings(Parameters.include) ?? [])
        if let unknown {
            throw fields.fault("\(Parameters.include)/\(unknown)", "enum", "expected \(IncludedObject.choices)")
        }
        return objects
    }

    private static func filter(_ fields: Fields, _ limits: Limits) throws(ChatError) -> Filter? {
        guard let text = try fields.string("filter") else { return nil }
        do throws(ChatError) {
            return try Filter(text, limits: limits)
        } catch {
            throw fields.fault("filter", "filter", error.message, slug: error.slug ?? "bad_filter")
        }
    }
}
