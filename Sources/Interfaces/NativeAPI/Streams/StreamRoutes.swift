import ChatKit
import ChatModel
import HTTPServer
import JSON

/// Following events: streams, polls, tickets, and the list of what is open.
extension NativeAPI {
    func addStreamRoutes(to router: inout Router) {
        let body = BodyPolicy.collected(limit: limits.emitBodyBytes)
        router.add(.get, "/v1/stream", handler: asAnybody(getStream))
        router.add(.get, "/v1/poll", handler: asCaller(getPoll))
        router.add(.get, "/v1/streams", handler: asCaller(getStreams))
        router.add(.patch, "/v1/streams/{id}", body: body, handler: asCaller(patchStream))
        router.add(.delete, "/v1/streams/{id}", handler: asCaller(deleteStream))
        router.add(.post, "/v1/stream-tickets", body: body, handler: asCaller(postStreamTicket))
    }

    /// Says good-bye on every stream (`stream.closing`, with a time to come back at) and answers every held poll. Streams
    /// and polls that come later are refused with 503. For `Server.run(onDrain:)`.
    public func drainStreams() async { await streams.drain() }

    /// The counters of streams now.
    public var streamMetrics: StreamMetrics { get async { await streams.metrics } }
}

/// What `GET /v1/stream` and `GET /v1/poll` have in common.
struct FollowRequest {
    let selection: Selection
    /// As the client sent it; nil when it starts from now.
    let cursor: String?

    static let parameterNames = ["channel", "type", "filter", "cursor"]

    /// - Throws: `.malformed` and `.forbidden` as `Chat.selection` does.
    init(_ request: Request, _ parameters: Parameters, _ chat: Chat) throws(ChatError) {
        var filter: Filter?
        if let text = try parameters.text("filter") { filter = try Filter(text, limits: chat.limits) }
        selection = try chat.selection(
            channels: parameters.texts("channel"), types: parameters.texts("type"), filter: filter)
        let cursor = try parameters.text("cursor")
        self.cursor = request.lastEventID ?? cursor
    }
}

extension Request {
    /// What a reconnecting EventSource sends; it goes before what the URL says, because the URL stays the same. Some
    /// clients send it empty when they have none.
    var lastEventID: String? { headers["Last-Event-ID"].flatMap { $0.isEmpty ? nil : $0 } }
}

// MARK: - GET /v1/stream

extension NativeAPI {
    /// `GET /v1/stream?channel=&type=&filter=&cursor=`: events as they come, as SSE or as lines.
    func getStream(_ request: Request) async throws -> Response {
        guard let format = StreamFormat.negotiated(request.headers) else { throw Self.notAcceptable }
        let parameters = try Parameters(request.query, known: FollowRequest.parameterNames + ["ticket"])
        let (caller, ticket) = try streamCaller(of: request, parameters)
        let chat = service.chat(for: caller)
        let wanted = try FollowRequest(request, parameters, chat)
        let resumption = try await chat.resume(at: wanted.cursor ?? "latest")
        guard await service.hub.reach(resumption.from) else { throw ChatError.notListening }
        let headers = format.headers + [("Gateway-Cursor", resumption.from.description)]
        guard request.method != .head else { return .empty(status: 200, headers: headers) }
        try await streams.admit(caller)
        if let ticket, try streams.tickets.use(ticket, isResuming: request.lastEventID != nil) == .finished {
            // Source: WHATWG HTML, 9.2.3: the one answer that stops an EventSource for good.
            return .empty(status: 204)
        }
        let order = StreamOrder(
            caller: caller, selection: wanted.selection, format: format, resumption: resumption, ticket: ticket?.nonce)
        return .stream(
            StreamOpening(headers: headers) { [streams] connection in
                streams.assumeIsolated { $0.open(connection, order) }
            })
    }

    private func streamCaller(
        of request: Request, _ parameters: Parameters
    ) throws(ChatError) -> (Caller, StreamTicket?) {
        guard let text = try parameters.text("ticket") else { return (try caller(of: request), nil) }
        let (caller, ticket) = try streams.tickets.caller(of: text)
        return (caller, ticket)
    }

    private static let notAcceptable = Problem(
        status: 406, code: "not_acceptable", title: "None of the accepted formats can be given",
        detail: "Accept text/event-stream or application/x-ndjson")
}

// MARK: - GET /v1/poll

extension NativeAPI {
    /// What one answer holds at most besides its first event; the cursor goes on from there.
    private static let pollBytes = 1024 * 1024

    /// `GET /v1/poll?channel=&type=&filter=&cursor=&limit=`: the next events, waited for if there are none.
    func getPoll(_ request: Request, _ caller: Caller) async throws -> Response {
        let parameters = try Parameters(request.query, known: FollowRequest.parameterNames + ["limit"])
        let limit = try parameters.integer("limit", in: 1...limits.pageMost) ?? limits.pageDefault
        let chat = service.chat(for: caller)
        let wanted = try FollowRequest(request, parameters, chat)
        guard let cursor = wanted.cursor else {
            return Self.answer(PollBatch(events: [], cursor: try await chat.watermark()), gap: nil)
        }
        let resumption = try await chat.resume(at: cursor)
        let hold = UInt64(max(0, limits.pollHold.wholeSecondsUp))
        // A gap is said at once: the client may want to read history before it goes on.
        let seconds = resumption.hasGap ? 0 : hold
        let batch = try await withTaskExecutorPreference(globalConcurrentExecutor) { [streams] in
            // Off the loop, where everyone waits: a filter over a long past is work.
            try await chat.poll(wanted.selection, after: resumption.from, limit: limit) {
                if seconds > 0 { await streams.hold(seconds: seconds) }
            }
        }
        if resumption.hasGap { await streams.countGap() }
        return Self.answer(batch, gap: resumption.hasGap ? resumption : nil)
    }

    private static func answer(_ batch: PollBatch, gap: Resumption?) -> Response {
        var writer = JSONWriter(capacity: batch.events.count * 400 + 64)
        var cursor = batch.cursor
        writer.beginObject()
        writer.key("data")
        writer.beginArray()
        for event in batch.events {
            event.printEnvelope(to: &writer)
            guard writer.bytes.count >= pollBytes else { continue }
            cursor = event.timetoken
            break
        }
        writer.endArray()
        writer.member("cursor", cursor.description)
        if let gap {
            writer.key("gap")
            writer.beginObject()
            ControlBlock.printGap(gap, to: &writer)
            writer.endObject()
        }
        writer.endObject()
        var headers = [("Cache-Control", "no-store")]
        if let gap { headers.append(("Gateway-Cursor", gap.from.description)) }
        return .json(writer.bytes, headers: headers)
    }
}

extension LiveStreams {
    func countGap() { counters.gaps += 1 }
}

// MARK: - POST /v1/stream-tickets

extension NativeAPI {
    /// `POST /v1/stream-tickets`
    func postStreamTicket(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try Fields(request.body.bytes, limits: limits, known: ["channels", "types", "user"])
        let selection = try service.chat(for: caller).selection(
            channels: try fields.patterns("channels") ?? [], types: try fields.patterns("types") ?? [])
        let (text, expires) = try streams.tickets.issue(
            selection, user: try ticketUser(fields, caller), by: caller)
        let body = JSONText { writer in
            writer.beginObject()
            writer.member("ticket", text)
            writer.member("expires_at", expires.timestamp)
            writer.endObject()
        }
        return .json(body.bytes, status: 201, headers: [("Cache-Control", "no-store")])
    }

    /// A credential of a user makes tickets for that user only.
    private func ticketUser(_ fields: Fields, _ caller: Caller) throws -> String? {
        let named = try fields.string("user")
        if let named { try Names.check(user: named) }
        guard let own = caller.user else { return named }
        guard named == nil || named == own else {
            throw ChatError(.forbidden, "this credential speaks for user '\(own)' only")
        }
        return own
    }
}
