public import ChatKit
public import ChatModel
import GatewayClient
import JSON

extension GatewayBackend {
    public func post(_ posting: OutgoingMessage) async throws(ChatError) -> Timetoken {
        try await post(posting, MessageReferences())
    }

    func post(_ posting: OutgoingMessage, _ links: MessageReferences) async throws(ChatError) -> Timetoken {
        let path = RequestPath("channels", posting.channel, posting.form.path)
        var call = Call("POST", path, body: body(of: posting, links))
        call.idempotencyKey = Call.newIdempotencyKey()
        call.timeout = posting.options.timeout
        call.retries = posting.options.retries
        call.isCompressed = posting.options.isCompressed
        return try await send(call).timetoken("timetoken")
    }

    private func body(of posting: OutgoingMessage, _ links: MessageReferences) -> JSONText {
        JSONText(capacity: posting.data.count + 128) { writer in
            writer.beginObject()
            if case .event(let type?) = posting.form { writer.member("type", type) }
            writer.member("data", posting.data)
            writer.member("user", user)
            if let meta = posting.meta { writer.member("meta", meta) }
            if let customType = posting.customType { writer.member("custom_type", customType) }
            if !posting.isStored { writer.member("store", false) }
            if let hours = posting.hours { writer.member("ttl_hours", hours) }
            if let quote = links.quote { writer.member("quote", quote.description) }
            if let root = links.threadOf { writer.member("thread_of", root.description) }
            if links.mentionsEverybody {
                writer.member("mentions", "channel")
            } else if !links.mentions.isEmpty {
                writer.member("mentions", links.mentions)
            }
            writer.endObject()
        }
    }

    public func history(_ query: EventQuery) async throws(ChatError) -> Page<Event> {
        try await events(range(of: query, RequestPath("channels", query.channel, "events")), query)
    }

    func events(_ path: RequestPath, _ query: EventQuery) async throws(ChatError) -> Page<Event> {
        let path = path.adding("order", query.order == .newestFirst ? "desc" : "asc")
            .adding("limit", "\(query.limit)")
        let answer = try await send(Call("GET", path))
        let envelopes = answer.text.rawMember("data")?.rawElements() ?? []
        return Page(
            items: envelopes.compactMap { Event(envelope: $0) }, hasMore: answer["has_more"]?.boolean ?? false)
    }

    public func count(_ query: EventQuery) async throws(ChatError) -> Int {
        let path = range(of: query, RequestPath("channels", query.channel, "events", "count"))
        guard let count = try await send(Call("GET", path))["count"]?.integer else { throw .foreignAnswer }
        return Int(count)
    }

    func range(of query: EventQuery, _ path: RequestPath) -> RequestPath {
        path.adding("type", each: query.types)
            .adding("after", query.after == .zero ? nil : query.after.description)
            .adding("before", query.before == .distantFuture ? nil : query.before.description)
    }

    public func events(_ selection: EventSelection) -> LiveEvents {
        LiveEvents {
            let listener = streams.listen(selection)
            return { () async throws(ChatError) -> LiveUpdate? in try await listener.next() }
        }
    }
}

extension OutgoingMessage.Form {
    fileprivate var path: String {
        switch self {
        case .message: "messages"
        case .event: "events"
        case .signal: "signals"
        case .fire: "fire"
        }
    }
}

extension Event {
    /// Reads an event in the JSON form of the native API. Returns nil for other JSON. The app of the event is not known
    /// to the client.
    convenience init?(envelope text: JSONText) {
        guard let root = try? JSONDocument(text).root, let type = root["type"]?.string,
            let timetoken = root["timetoken"]?.string.flatMap({ Timetoken(text: $0) }),
            let channel = root["channel"]?.string, let data = text.rawMember("data")
        else { return nil }
        var draft = EventDraft(
            channel: ChannelID(channel, in: AppID("")), type: type,
            kind: EventKind(name: root["kind"]?.string ?? ""),
            retention: root["ephemeral"]?.boolean == true ? .passing : .kept, data: data, user: root["user"]?.string,
            meta: text.rawMember("meta"))
        draft.customType = root["custom_type"]?.string
        draft.cause = root["cause"]?.string
        self.init(timetoken: timetoken, draft: draft)
    }
}

extension LiveEvent {
    /// Reads an event of a stream with its included objects. Returns nil when the document is not an event.
    init?(_ document: JSONDocument) {
        guard let event = Event(envelope: document.text) else { return nil }
        self.init(event, included: document.text.rawMember("included"))
    }
}
