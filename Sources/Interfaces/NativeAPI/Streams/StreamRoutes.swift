import ChatCore
import ChatModel
import LongPolling
import HTTPServer
import JSON

/// Routes for following events: streams, polls, tickets, and the list of open streams.
extension NativeAPI {
    func addStreamRoutes(to router: inout Router) {
        let body = BodyPolicy.collected(limit: limits.emitBodyBytes)
        router.add(.get, "/v1/stream", handler: asPublic(starting: startStream))
        router.add(.get, "/v1/poll", handler: asCaller(starting: startPoll, isHeld: true))
        router.add(.get, "/v1/streams", handler: asCaller(getStreams))
        router.add(.get, "/v1/streams/{id}", handler: asCaller(getOpenStream))
        router.add(
            .patch, "/v1/streams/{id}", body: body,
            handler: asCaller(
                Self.unconditional(
                    returning(
                        Self.streamMembers, measured: ["bytes_sent", "cursor", "lag_bytes", "state"],
                        from: getOpenStream, to: patchStream)),
                repeating: .recordedFirst))
        router.add(.delete, "/v1/streams/{id}", handler: asCaller(Self.unconditional(deleteStream)))
        router.add(.post, "/v1/stream-tickets", body: body, handler: asCaller(postStreamTicket, repeating: .refused))
    }

    /// Sends `stream.closing` with a reconnection time on every stream, and ends every waiting poll. Later streams and
    /// polls get status 503. Intended for `Server.run(onDrain:)`.
    public func drainStreams() async { await streams.drain() }

    /// The current counters of streams and polls.
    var streamMetrics: StreamMetrics { get async { await streams.metrics } }
}

extension Request {
    /// The `Last-Event-ID` of a reconnecting EventSource; nil when the field is absent or empty. Some clients send an
    /// empty field when they have no id. The id takes precedence over the cursor in the URL, because the URL stays the
    /// same.
    var lastEventID: String? { headers["Last-Event-ID"].flatMap { $0.isEmpty ? nil : $0 } }
}

// MARK: - GET /v1/stream

extension NativeAPI {
    /// `GET /v1/stream?channel=&type=&filter=&cursor=&user=&device=`: sends events as they occur, as SSE or as JSON
    /// lines. A stream whose caller and channels are known in memory opens without a task.
    func startStream(_ request: Request) throws -> Handler.Reply {
        guard let format = StreamFormat.negotiated(request.headers) else { throw Self.notAcceptable }
        let parameters = try Parameters(request.query, known: FollowRequest.streamParameters)
        guard try parameters.text("ticket") == nil, let caller = try? caller(of: request) else {
            return .later {
                let (caller, ticket) = try await streamCaller(of: request, parameters)
                let wanted = try FollowRequest(
                    request, parameters, service.chat(for: caller), streams.selections)
                return try await openStream(request, parameters, wanted, format, ticket)
            }
        }
        try caller.meters?.admitRequest(at: service.clock.now)
        let chat = service.chat(for: caller)
        var wanted = try FollowRequest(request, parameters, chat, streams.selections)
        guard wanted.lookUpAtOnce(chat, streams),
            let resumption = wanted.resumptionAtOnce(in: chat, at: wanted.cursor ?? "latest"),
            streams.polls.hasReached(resumption.from)
        else { return .later { [wanted] in try await openStream(request, parameters, wanted, format, nil) } }
        let order = order(wanted, format, resumption, shownStart: resumption.from, nil)
        guard request.method != .head else { return .now(.empty(status: 200, headers: order.headers)) }
        let refusal = streams.loop.enter(streams) { $0.refusal(of: caller, from: request.remoteAddress) }
        if let refusal { throw refusal }
        return .now(response(opening: order))
    }

    private nonisolated(nonsending) func openStream(
        _ request: Request, _ parameters: Parameters, _ parsed: FollowRequest, _ format: StreamFormat,
        _ ticket: StreamTicket?
    ) async throws -> Response {
        let chat = service.chat(for: parsed.caller)
        let wanted = try await parsed.lookedUp(chat, streams)
        let use =
            if let ticket { try await ticketUse(request, parameters, ticket, chat) } else {
                nil as LiveStreams.TicketUse?
            }
        let opening = ticket.flatMap { [nil, $0.start.description].contains(wanted.cursor) ? $0 : nil }
        let resumption =
            if let opening {
                try await chat.resume(wanted.selection, at: opening.position.description)
            } else {
                try await wanted.resumption(in: chat, at: wanted.cursor ?? "latest")
            }
        guard await streams.polls.reach(resumption.from) else { throw ChatError.notListening }
        // With a ticket, the shown start is the ticket's start, which also counts as a valid last id (see
        // `StreamTickets`). The end of the log is not shown, because other people may know positions near the end.
        let shownStart = resumption.gap != nil ? resumption.from : opening?.start ?? resumption.from
        let order = order(wanted, format, resumption, shownStart: shownStart, ticket)
        guard request.method != .head else { return .empty(status: 200, headers: order.headers) }
        let resumed = request.lastEventID == nil ? nil : ticket?.nonce
        let refusal = await streams.loop.run(on: streams) {
            $0.refusal(of: wanted.caller, from: request.remoteAddress, resuming: resumed)
        }
        if let refusal { throw refusal }
        if let ticket, try await isFinished(ticket, use, lastID: request.lastEventID, chat) {
            // WHATWG HTML, 9.2.3: 204 is the only response that stops an EventSource permanently.
            return .empty(status: 204)
        }
        if let device = DeviceSessions.Device(wanted.selection) { await streams.takeOverSession(of: device) }
        return response(opening: order)
    }

    private func order(
        _ wanted: FollowRequest, _ format: StreamFormat, _ resumption: ResumePosition, shownStart: Timetoken,
        _ ticket: StreamTicket?
    ) -> StreamRequest {
        var order = StreamRequest(
            caller: wanted.caller, selection: wanted.selection, format: format, resumption: resumption,
            shownStart: shownStart, ticket: ticket, audienceChanges: wanted.audienceChanges)
        (order.groups, order.isPresent) = (wanted.groups, wanted.isPresent)
        order.inclusion = service.chat(for: wanted.caller).inclusion(of: wanted.included, following: wanted.selection)
        return order
    }

    private func response(opening order: StreamRequest) -> Response {
        .stream(
            StreamOpening(headers: order.headers) { [streams] connection in
                streams.loop.enter(streams) { $0.open(connection, order) }
            } onDrop: { [streams] in
                if let ticket = order.ticket { streams.tickets.release(ticket.nonce) }
            })
    }

    private nonisolated(nonsending) func streamCaller(
        of request: Request, _ parameters: Parameters
    ) async throws -> (Caller, StreamTicket?) {
        let caller: Caller
        var ticket: StreamTicket?
        do {
            if let text = try parameters.text("ticket") {
                (caller, ticket) = try await service.confirmingRefusal { () throws(ChatError) in
                    try streams.tickets.caller(of: text)
                }
            } else {
                caller = try await confirmedCaller(of: request)
            }
        } catch {
            await recordFailedSignIn(request, error)
            throw error
        }
        try caller.meters?.admitRequest(at: service.clock.now)
        return (caller, ticket)
    }

    /// Checks the start position of a ticket's stream. The cursor must not be before the ticket's start. The last id of
    /// a reconnecting client must be an id that was sent on the ticket's stream.
    private nonisolated(nonsending) func ticketUse(
        _ request: Request, _ parameters: Parameters, _ ticket: StreamTicket, _ chat: ChatAccess
    ) async throws -> LiveStreams.TicketUse {
        if let cursor = try parameters.streamCursor(), cursor != "latest" {
            let position = Timetoken(position: cursor)
            guard cursor != "earliest", position.map({ $0 >= ticket.start }) ?? true else {
                throw ChatError(
                    .malformed,
                    "'cursor' is before the start position of the ticket; send 'cursor' to POST /v1/stream-tickets instead",
                    slug: "bad_cursor", field: "cursor")
            }
        }
        guard let id = request.lastEventID else { return .here }
        return try await streams.resume(ticket, lastID: id, chat)
    }

    /// The number of times that a resumption tries to take over a ticket which other nodes take over at the same time.
    private static let takeovers = 5

    /// Uses a ticket. Returns true when the ticket's stream was ended permanently.
    nonisolated(nonsending) func isFinished(
        _ ticket: StreamTicket, _ use: LiveStreams.TicketUse?, lastID: String?, _ chat: ChatAccess
    ) async throws -> Bool {
        var use = use ?? .here
        for _ in 0..<Self.takeovers {
            do throws(ChatError) {
                switch use {
                case .finished: return true
                case .here: return try await streams.tickets.use(ticket, isResuming: lastID != nil) == .finished
                case .moving(let etag):
                    return try await streams.tickets.use(ticket, isResuming: true, replacing: etag) == .finished
                }
            } catch {
                // A refusal would end the client's stream for good. Of several requests of the client, the last one has
                // the stream.
                guard error.code == .stale, let lastID else { throw error }
                use = try await streams.resume(ticket, lastID: lastID, chat)
            }
        }
        throw StreamTickets.refusal
    }

    private static let notAcceptable = Problem(
        status: 406, code: "not_acceptable", title: "None of the accepted formats is available",
        detail: "Accept text/event-stream or application/x-ndjson")
}

// MARK: - GET /v1/poll

extension NativeAPI {
    /// `GET /v1/poll?channel=&type=&filter=&cursor=&user=&device=&limit=`: returns the next events, and waits if there
    /// are none. A poll that has missed no event, and whose channels are known in memory, waits without a task.
    func startPoll(_ request: Request, _ caller: Caller) throws -> Handler.Reply {
        let parameters = try Parameters(request.query, known: FollowRequest.pollParameters)
        let limits = limits
        let limit = try parameters.integer("limit", in: 1...limits.pageMost) ?? limits.pageDefault
        let chat = service.chat(for: caller)
        var wanted = try FollowRequest(request, parameters, chat, streams.selections)
        if request.method != .head, let cursor = wanted.cursor, wanted.lookUpAtOnce(chat, streams),
            let resumption = wanted.resumptionAtOnce(in: chat, at: cursor),
            let opening = try streams.polls.followAtOnce(
                order(wanted, limit, after: resumption.from, formatter(of: wanted)), in: chat,
                from: request.remoteAddress)
        {
            return .now(.deferred(opening))
        }
        return .later { [wanted] in try await poll(request, wanted, limit, chat) }
    }

    private nonisolated(nonsending) func poll(
        _ request: Request, _ parsed: FollowRequest, _ limit: Int, _ chat: ChatAccess
    ) async throws -> Response {
        let wanted = try await parsed.lookedUp(chat, streams)
        await streams.loop.run(on: streams) { $0.pollCame(wanted.selection) }
        guard request.method != .head, let cursor = wanted.cursor else {
            return PollPrinter.answer(PollBatch([], limit: limit, upTo: try await chat.watermark()), gap: nil)
        }
        let resumption = try await wanted.resumption(in: chat, at: cursor)
        let formatter = formatter(of: wanted)
        let order = order(wanted, limit, after: resumption.from, formatter)
        await formatter.begin(order.selection)
        // A poll with a gap does not wait, because the client may want to read history before it continues.
        do {
            switch try await streams.polls.follow(order, in: chat, waits: resumption.gap == nil) {
            case .deferred(let opening): return .deferred(opening)
            case .now(var batch):
                var included = try await service.chat(for: wanted.caller).included(
                    with: batch.events, formatter.inclusion)
                batch.fit(&included)
                if resumption.gap != nil { await streams.countGap() }
                let gap = resumption.gap == nil ? nil : resumption
                return await batch.printed { [included] in PollPrinter.answer($0, included, gap: gap) }
            }
        } catch {
            formatter.ended()
            throw error
        }
    }

    private func formatter(of wanted: FollowRequest) -> NativePollFormatter {
        NativePollFormatter(
            streams: streams, holder: wanted.isPresent ? .ofPoll() : nil,
            inclusion: service.chat(for: wanted.caller).inclusion(of: wanted.included))
    }

    private func order(
        _ wanted: FollowRequest, _ limit: Int, after position: Timetoken, _ formatter: NativePollFormatter
    ) -> PollRequest {
        PollRequest(
            caller: wanted.caller, selection: wanted.selection, groups: wanted.groups, limit: limit, after: position,
            hold: limits.pollHold, formatter: formatter, audienceChanges: wanted.audienceChanges)
    }
}

/// Formats poll responses of the native API.
private struct NativePollFormatter: PollFormatter {
    let streams: LiveStreams
    /// The id under which the poll's user is present on channels, while the poll waits and for some time after; nil
    /// when the poll does not affect presence.
    let holder: HolderID?
    /// The objects to include with each event; nil when none were requested.
    let inclusion: IncludePolicy?

    func shows(_ event: Event) -> Bool { true }

    func isInForce(_ order: PollRequest) -> Bool {
        streams.assumeIsolated { $0.isInForce(order.caller, order.selection) }
    }

    func answer(_ batch: PollBatch, to reply: DeferredResponse) {
        guard let inclusion, !batch.events.isEmpty else {
            return reply.complete(streams.loop.enter(streams) { $0.pollPrint.answer(batch) })
        }
        let app = batch.events[0].channel.app
        streams.includedReads.assumeIsolated { reads in
            reads.read(batch.events, inclusion, in: app) { [streams] result in
                switch result {
                case .success(let included):
                    reply.complete(streams.assumeIsolated { $0.pollPrint.answer(batch, included) })
                case .failure(let error): reply.fail(Problem(error))
                }
            }
        }
    }

    func refuse(_ error: ChatError, to reply: DeferredResponse) { reply.fail(Problem(error)) }

    /// Makes the poll's user present on the channels of the selection, if the poll requests it.
    nonisolated(nonsending) func begin(_ selection: Selection) async {
        guard let holder, let user = selection.viewer?.user else { return }
        let channels = await streams.presence(on: selection)
        streams.service.presence.opened(
            holder, of: UserID(user, in: selection.channels.app), presentOn: channels.map(\.text))
    }

    func ended() {
        guard let holder else { return }
        streams.service.presence.concluded(holder, lasting: streams.service.limits.presenceAge)
    }
}

extension LiveStreams {
    func countGap() { counters.gaps += 1 }
}

// MARK: - POST /v1/stream-tickets

extension NativeAPI {
    /// `POST /v1/stream-tickets`: creates a ticket with which a browser opens a stream. Returns the ticket and its
    /// expiry with status 201.
    func postStreamTicket(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try Fields(request.body.bytes, limits: limits, known: ["channels", "types", "user", "cursor"])
        let chat = service.chat(for: caller)
        let selection = try chat.selection(
            channels: try fields.patterns("channels") ?? [], types: try fields.patterns("types") ?? [])
        let (position, isLatest) = try await ticketPosition(fields, chat)
        let (text, expires) = try streams.tickets.issue(
            selection, user: try ticketUser(fields, caller), position: position, isLatest: isLatest, by: caller)
        let body = JSONText { writer in
            writer.beginObject()
            writer.member("ticket", text)
            writer.member("expires_at", expires.timestamp)
            writer.endObject()
        }
        return .json(body.bytes, status: 201, headers: [("Cache-Control", "no-store")])
    }

    private func ticketPosition(
        _ fields: Fields, _ chat: ChatAccess
    ) async throws -> (position: Timetoken, isLatest: Bool) {
        guard let cursor = try fields.string("cursor"), cursor != "latest" else {
            return (try await chat.watermark(), true)
        }
        let position = cursor == "earliest" ? .zero : Timetoken(position: cursor)
        guard let position else {
            throw fields.fault(
                "cursor", "format",
                CursorKind(of: cursor) == .page
                    ? CursorKind.pageInsteadOfStream
                    : "must be a timetoken of 17 digits, an event id, '0', 'earliest', 'latest', or an RFC 3339 time")
        }
        guard position <= max(service.clock.now, try await chat.watermark()) else {
            throw fields.fault("cursor", "range", "must not be in the future; leave it out to start now")
        }
        return (position, false)
    }

    /// The user for whom the ticket is created; nil for a ticket without a user. A user's credential can create tickets
    /// only for that user.
    private func ticketUser(_ fields: Fields, _ caller: Caller) throws -> String? {
        let named = try fields.string("user")
        if let named { try Names.check(user: named) }
        guard let own = caller.user else { return named }
        guard named == nil || named == own else {
            throw ChatError(.forbidden, "this credential may act for user '\(own)' only")
        }
        return own
    }
}
