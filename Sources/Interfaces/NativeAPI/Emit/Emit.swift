import ChatCore
import ChatModel
import HTTPServer
import JSON

/// The routes that emit events into channels. The raw value is the route's pattern. It is part of the digest that
/// identifies a repeated request with an `Idempotency-Key`.
enum EmitRoute: String {
    case messages = "/v1/channels/{channel}/messages"
    case events = "/v1/channels/{channel}/events"
    case signals = "/v1/channels/{channel}/signals"
    case fire = "/v1/channels/{channel}/fire"
    case anyChannel = "/v1/events"
    case batch = "/v1/events/batch"
    case forward = "/v1/channels/{channel}/messages/{timetoken}/forward"

    var pattern: RoutePattern { RoutePattern(rawValue) }
}

/// The events that one request emits, and the form of the response. Either all events are appended, or none of them.
struct EmitRequest {
    /// The form of the events in the response.
    enum Shape {
        /// The response contains the id and the timetoken of the request's only event.
        case one
        /// The response is the request's only event in the form of a message.
        case message
        /// The response is `{"events": […]}`, with the id and the timetoken of each event.
        case list
    }

    var route: EmitRoute
    var drafts: [EventDraft]
    /// The links of the request's message to other messages; nil for other events and for a message without links.
    var links: MessageLinks?
    var status = 201
    var shape = Shape.one
    /// The path of the list that contains the event; nil when the event cannot be read again. The event's own path is
    /// this path, a slash, and the event's id or, for a message, its timetoken.
    var listPath: String?

    /// The header fields of the response: the mark of a repeated request, and the `Location` of an event that can be
    /// read again.
    func headers(of outcome: AppendOutcome) -> [(name: String, value: String)] {
        let event = outcome.events[0].event
        guard let listPath, shape != .list, event.retention == .kept else { return outcome.replayHeaders }
        var headers = outcome.replayHeaders
        headers.append(("Location", listPath + "/" + (route == .messages ? event.timetoken.description : event.id)))
        return headers
    }
}

extension NativeAPI {
    /// `POST /v1/channels/{channel}/messages`: sends a message into a channel. Returns the message, or the predicted
    /// result of a dry run.
    @Sendable func postMessage(_ request: Request, _ caller: Caller) throws -> Handler.Reply {
        var emitRequest = try emitRequest(
            .messages, DraftParser.messageMembers, in: request, listPath: request.path, DraftParser.message,
            DraftParser.links)
        emitRequest.shape = .message
        return try answer(&emitRequest, to: request, caller)
    }

    /// `POST /v1/channels/{channel}/events`: emits an event into a channel. Returns the event's id and timetoken, or
    /// the predicted result of a dry run.
    @Sendable func postEvent(_ request: Request, _ caller: Caller) throws -> Handler.Reply {
        var emitRequest = try emitRequest(
            .events, DraftParser.eventMembers, in: request, listPath: Self.eventList, DraftParser.event)
        return try answer(&emitRequest, to: request, caller)
    }

    /// `POST /v1/channels/{channel}/signals`: emits a signal, which is not stored in history. Returns its id and
    /// timetoken with status 202.
    @Sendable func postSignal(_ request: Request, _ caller: Caller) throws -> Handler.Reply {
        var emitRequest = try emitRequest(
            .signals, DraftParser.signalMembers, in: request, status: 202, DraftParser.signal)
        return try answer(&emitRequest, to: request, caller)
    }

    /// `POST /v1/channels/{channel}/fire`: emits an event that only webhooks receive. Returns its id and timetoken with
    /// status 202.
    @Sendable func postFire(_ request: Request, _ caller: Caller) throws -> Handler.Reply {
        var emitRequest = try emitRequest(
            .fire, DraftParser.fireMembers, in: request, status: 202, DraftParser.fire)
        return try answer(&emitRequest, to: request, caller)
    }

    /// Parses the event in a body, with the channel in the path.
    private func emitRequest(
        _ route: EmitRoute, _ known: [String], in request: Request, status: Int = 201, listPath: String? = nil,
        _ read: (_ fields: Fields, _ channel: String) throws(ChatError) -> EventDraft,
        _ readLinks: (_ fields: Fields) throws(ChatError) -> MessageLinks? = { _ in nil }
    ) throws -> EmitRequest {
        let fields = try Fields(request.body.bytes, limits: limits, known: known)
        return EmitRequest(
            route: route, drafts: [try read(fields, request.name("channel"))], links: try readLinks(fields),
            status: status, listPath: listPath)
    }

    /// The path of the list of the events of all channels. The path of an event is this path, a slash and the event's
    /// id.
    static let eventList = "/v1/events"

    /// `POST /v1/events`: emits the events of the body. The body names their channels, or is a CloudEvent.
    @Sendable func postAnyChannel(_ request: Request, _ caller: Caller) throws -> Handler.Reply {
        if let form = CloudEventForm(request.headers) {
            return try postCloudEvents(form, request, caller)
        }
        let limits = limits
        try requireBody(of: request, within: limits.emitBodyBytes)
        var emitRequest = try Self.anyChannelRequest(request, limits)
        return try answer(&emitRequest, to: request, caller)
    }

    private static let anyChannelMembers = ["channel", "channels"] + DraftParser.eventMembers

    private static func anyChannelRequest(_ request: Request, _ limits: Limits) throws -> EmitRequest {
        let fields = try Fields(request.body.bytes, limits: limits, known: anyChannelMembers)
        guard let channels = try fields.strings("channels") else {
            guard let channel = try fields.string("channel") else {
                throw fields.missing("member 'channel' or 'channels'")
            }
            return EmitRequest(
                route: .anyChannel, drafts: [try DraftParser.event(fields, channel: channel)],
                listPath: eventList)
        }
        guard !fields.has("channel") else {
            throw fields.fault("channels", "exclusive", "send either 'channel' or 'channels'")
        }
        guard (1...limits.batchEvents).contains(channels.count), !channels.hasRepeats else {
            throw fields.fault("channels", "items", "must name 1 to \(limits.batchEvents) different channels")
        }
        let first = try DraftParser.event(fields, channel: channels[0])
        let drafts = channels.map { first.on(channel: $0) }
        return EmitRequest(route: .anyChannel, drafts: drafts, shape: .list)
    }

    /// Emits events. Responds once they are durable or, if they are ephemeral, once they are visible. With
    /// `?dry_run=true`, only predicts the result. The drafts are checked and completed in place.
    func answer(
        _ emitRequest: inout EmitRequest, to request: Request, _ caller: Caller, also known: [String] = []
    ) throws -> Handler.Reply {
        let chat = try chat(for: caller, request)
        let key = try IdempotencyKey(request.headers)
        if !request.query.items.isEmpty, try Parameters(request.query, known: ["dry_run"] + known).flag("dry_run") {
            return .later { [emitRequest] in try await dryRun(emitRequest, chat) }
        }
        guard key == nil, emitRequest.links == nil else {
            return .later { [emitRequest] in try await answer(emitRequest, once: key, to: request, chat) }
        }
        let started = try chat.start(&emitRequest.drafts)
        if case .emitted(let outcome) = started { return .now(counted(outcome, of: emitRequest, for: caller)) }
        guard case .appendable(let append) = started else { return finished(started, emitRequest, chat) }
        // The response for one event has only its id, timetoken, channel and type. The response for a message contains
        // the message.
        let isShort = emitRequest.shape == .one || emitRequest.shape == .message && request.body.bytes.count <= 256
        return .after(append.begin, isShort: isShort) { [emitRequest] in
            guard let outcome = try append.outcome() else { return finished(append.beforeRules, emitRequest, chat) }
            return .now(counted(outcome, of: emitRequest, for: chat.caller))
        }
    }

    /// Finishes an emit in a task.
    private func finished(_ started: StartedEmit, _ emitRequest: EmitRequest, _ chat: ChatAccess) -> Handler.Reply {
        .later { counted(try await chat.finish(started), of: emitRequest, for: chat.caller) }
    }

    private nonisolated(nonsending) func answer(
        _ emitRequest: EmitRequest, once key: IdempotencyKey?, to request: Request, _ chat: ChatAccess
    ) async throws -> Response {
        guard let key else { return try await answer(emitRequest, nil, chat) }
        return try await claims.run(key, emitRequest.route, request, chat.caller) { makeClaim in
            try await answer(emitRequest, makeClaim(.null), chat)
        }
    }

    private nonisolated(nonsending) func answer(
        _ emitRequest: EmitRequest, _ claim: Claim?, _ chat: ChatAccess
    ) async throws(ChatError) -> Response {
        let outcome =
            if let links = emitRequest.links {
                try await chat.post(emitRequest.drafts[0], links, claim: claim)
            } else {
                try await chat.emit(emitRequest.drafts, claim: claim)
            }
        return counted(outcome, of: emitRequest, for: chat.caller)
    }

    /// Counts the emitted events, and returns the response.
    private func counted(_ outcome: AppendOutcome, of emitRequest: EmitRequest, for caller: Caller) -> Response {
        metrics.countEmitted(outcome)
        if emitRequest.shape == .message { return Self.sentMessage(emitRequest, outcome, for: caller) }
        var writer = JSONWriter(capacity: 192 * outcome.events.count + 16)
        writer.beginObject()
        if emitRequest.shape == .list {
            writer.key("events")
            writer.beginArray()
            for event in outcome.events {
                writer.beginObject()
                Self.printAppended(of: event, outcome, to: &writer)
                writer.endObject()
            }
            writer.endArray()
        } else {
            Self.printAppended(of: outcome.events[0], outcome, to: &writer)
        }
        writer.endObject()
        return .json(writer.bytes, status: emitRequest.status, headers: emitRequest.headers(of: outcome))
    }

    /// The response for a sent message, in the form that `GET` returns. No read of the store is needed, because the
    /// commit returns the message's version.
    ///
    /// The gateway adds the quoted message and the names of mentioned users to `meta`. A caller without the scope
    /// `read` gets `meta` in the form in which it was sent.
    private static func sentMessage(
        _ emitRequest: EmitRequest, _ outcome: AppendOutcome, for caller: Caller
    ) -> Response {
        var event = outcome.events[0].event
        if emitRequest.links != nil, !caller.scopes.allow(.read) {
            var draft = event.draft
            draft.meta = emitRequest.drafts.first?.meta
            event = Event(timetoken: event.timetoken, draft: draft)
        }
        let message = Message(sent: event, etag: outcome.messageETag)
        let body = JSONText(capacity: event.weight + 512) { message.print(to: &$0) }
        return .json(
            body.bytes, status: emitRequest.status,
            headers: emitRequest.headers(of: outcome) + [(name: "ETag", value: EntityTag.quoted(message.etag))])
    }

    /// Prints the members for one event in the response to an emit: its id, timetoken, channel and type, and whether it
    /// is a duplicate.
    static func printAppended(of appended: Appended, _ outcome: AppendOutcome, to writer: inout JSONWriter) {
        let event = appended.event
        writer.member("id", eventAt: event.timetoken)
        writer.member("timetoken", event.timetoken)
        writer.member("channel", event.channel.name)
        writer.member("type", event.type)
        // The response to a repeated request equals the first response, in which the events were new.
        writer.member("duplicate", outcome.repeatedNote == nil && appended.isDuplicate)
    }

    /// Checks the size of the body, for routes whose limit depends on the kind of body.
    func requireBody(of request: Request, within limit: Int) throws {
        guard request.body.bytes.count <= limit else { throw Problem.contentTooLarge(limit: limit) }
    }
}

extension AppendOutcome {
    /// The header fields that mark the response to a repeated request; empty for the first request.
    var replayHeaders: [(name: String, value: String)] {
        repeatedNote == nil ? [] : [("Idempotency-Replayed", "true")]
    }
}

extension Request {
    /// The path segment that matches a parameter of the route's pattern.
    func name(_ parameter: String) -> String { parameters[parameter] ?? "" }
}
