import ChatCore
import ChatModel
import HTTPServer
import JSON

extension NativeAPI {
    /// Adds the routes of messages. The route that sends messages is added together with the other routes that emit.
    func addMessageRoutes(to router: inout Router) {
        let body = BodyPolicy.collected(limit: limits.emitBodyBytes)
        let one = "/v1/channels/{channel}/messages/{timetoken}"
        router.add(.get, "/v1/channels/{channel}/messages", handler: asCaller(getMessages))
        router.add(.get, RoutePattern(one), handler: asCaller(getMessage))
        router.add(
            .patch, RoutePattern(one), body: body,
            handler: asCaller(
                returning(
                    Self.editMembers, remedies: Self.messageRemedies, from: getMessage, to: patchMessage)))
        router.add(.delete, RoutePattern(one), handler: asCaller(deleteMessage))
        router.add(.get, RoutePattern(one + "/thread"), handler: asCaller(getThread))
        router.add(.put, RoutePattern(one + "/pin"), handler: asCaller(Self.unconditional(pinMessage)))
        router.add(.delete, RoutePattern(one + "/pin"), handler: asCaller(Self.unconditional(unpinMessage)))
        router.add(
            .post, RoutePattern(one + "/forward"), body: body, handler: asCaller(forwardMessage, repeating: .byRoute))
        router.add(.post, RoutePattern(one + "/report"), body: body, handler: asCaller(reportMessage))
        router.add(.get, "/v1/channels/{channel}/reports", handler: asCaller(getReports))
    }

    private static let pageParameters = ["user"] + Listing.timedNames

    /// `GET /v1/channels/{channel}/messages`: returns a page of the messages of a channel in their current state.
    func getMessages(_ request: Request, _ caller: Caller) async throws -> Response {
        let parameters = try Parameters(
            request.query, known: Self.pageParameters + [Parameters.include], advice: Parameters.filterAdvice)
        let (query, channel) = try messageQuery(of: BuiltInTypes.messageCreated, parameters, request, caller)
        let page = try await pages(of: [channel], query, caller)[0]
        let chat = try chat(for: caller, request)
        let messages = try await chat.messages(of: page.events)
        let included = try await chat.included(
            with: page.events, chat.inclusion(of: try parameters.included()))
        return Self.response(page, to: request) { writer in
            for (index, message) in messages.enumerated() {
                message.print(to: &writer, included: included.isEmpty ? nil : included[index].text)
            }
        }
    }

    /// `GET /v1/channels/{channel}/messages/{timetoken}`: returns a message in its current state.
    func getMessage(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let message = try await chat(for: caller, request).message(
            request.messageTimetoken(), in: request.name("channel"))
        return Self.response(message).unlessKnown(EntityTag.quoted(message.etag), to: request.headers)
    }

    private static let editMembers = ["text", "data", "by"]

    /// `PATCH /v1/channels/{channel}/messages/{timetoken}`: edits a message and returns the edited message.
    func patchMessage(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try requiredFields(request, known: Self.editMembers)
        let chat = try chat(for: caller, request)
        return Self.response(
            try await chat.edit(
                request.messageTimetoken(), in: request.name("channel"), to: try DraftParser.content(fields),
                by: try fields.actor(), ifMatch: try await requiredVersion(request, chat)))
    }

    /// `DELETE /v1/channels/{channel}/messages/{timetoken}`: marks a message as deleted. With `?hard=true`, removes the
    /// message from the store. Returns no content.
    func deleteMessage(_ request: Request, _ caller: Caller) async throws -> Response {
        let parameters = try Parameters(request.query, known: ["hard", "by"])
        let chat = try chat(for: caller, request)
        try await chat.delete(
            request.messageTimetoken(), in: request.name("channel"), isHard: try parameters.flag("hard"),
            by: try parameters.actor(), ifMatch: try await requiredVersion(request, chat))
        return .empty()
    }

    /// `GET /v1/channels/{channel}/messages/{timetoken}/thread`: returns a page of the replies to a message.
    func getThread(_ request: Request, _ caller: Caller) async throws -> Response {
        let listing = try Listing(Parameters(request.query, known: Listing.timedNames), of: request, limits: limits)
        let page = try await chat(for: caller, request).replies(
            to: request.messageTimetoken(), in: request.name("channel"), listing.list)
        return Listing.response(page, to: request) { $0.print(to: &$1) }
    }

    /// `PUT /v1/channels/{channel}/messages/{timetoken}/pin`: pins a message to its channel. Returns no content.
    func pinMessage(_ request: Request, _ caller: Caller) async throws -> Response {
        let parameters = try Parameters(request.query, known: ["by"])
        try await chat(for: caller, request).pin(
            request.messageTimetoken(), in: request.name("channel"), by: try parameters.actor())
        return .empty()
    }

    /// `DELETE /v1/channels/{channel}/messages/{timetoken}/pin`: unpins a message. Returns no content.
    func unpinMessage(_ request: Request, _ caller: Caller) async throws -> Response {
        let parameters = try Parameters(request.query, known: ["by"])
        try await chat(for: caller, request).unpin(
            request.messageTimetoken(), in: request.name("channel"), by: try parameters.actor())
        return .empty()
    }

    /// `POST /v1/channels/{channel}/messages/{timetoken}/forward`: forwards a message to another channel. Returns the
    /// id and the timetoken of the new message with status 201.
    func forwardMessage(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try Fields(request.body.bytes, limits: limits, known: ["channel", "by"])
        let chat = try chat(for: caller, request)
        let target = try fields.required("channel", try fields.string("channel"))
        let user = try fields.actor()
        func forwarded(_ claim: Claim?) async throws -> Response {
            let outcome = try await chat.forward(
                request.messageTimetoken(), in: request.name("channel"), to: target, by: user, claim: claim)
            return Self.placed(outcome)
        }
        guard let key = try IdempotencyKey(request.headers) else { return try await forwarded(nil) }
        return try await claims.run(key, .forward, request, caller) { try await forwarded($0(.null)) }
    }

    /// `POST /v1/channels/{channel}/messages/{timetoken}/report`: reports a message to the operators of its channel.
    /// Returns the id and the timetoken of the report with status 201.
    func reportMessage(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try Fields(request.body.bytes, limits: limits, known: ["reason", "auto_moderation_id", "by"])
        let event = try await chat(for: caller, request).report(
            request.messageTimetoken(), in: request.name("channel"),
            for: try fields.required("reason", try fields.string("reason")),
            rule: try fields.string("auto_moderation_id"), by: try fields.actor())
        return Self.placed(AppendOutcome(events: [Appended(event: event, isDuplicate: false)]))
    }

    /// `GET /v1/channels/{channel}/reports`: returns a page of the reports of a channel's messages. Only operators of
    /// the channel may read them.
    func getReports(_ request: Request, _ caller: Caller) async throws -> Response {
        let parameters = try Parameters(request.query, known: Self.pageParameters + ["by"])
        let (query, channel) = try messageQuery(of: "report.created", parameters, request, caller)
        let chat = try chat(for: caller, request)
        let watermark = try await chat.watermark()
        let found = try await chat.reports(query.request(for: channel), by: try parameters.actor())
        let page = HistoryPage(found, of: query, in: channel, watermark: watermark)
        return Self.response(page, to: request) { writer in
            for event in page.events { event.printEnvelope(to: &writer) }
        }
    }

    private func messageQuery(
        of type: String, _ parameters: Parameters, _ request: Request, _ caller: Caller
    ) throws -> (HistoryQuery, ChannelID) {
        var query = try range(parameters)
        query.types = [.exact(type)]
        if let text = try parameters.text("cursor") { query.cursor = try PageCursor(text: text) }
        query.order = try order(try parameters.word("order"), query.cursor)
        let channel = try readable(request.name("channel"), caller)
        if let cursor = query.cursor { try query.seal(for: channel).check(cursor.list) }
        return (query, channel)
    }

    private static func response(
        _ page: HistoryPage, to request: Request, items: @Sendable (inout JSONWriter) -> Void
    ) -> Response {
        let body = JSONText(capacity: page.weight) { page.print(to: &$0, items: items) }
        return .json(
            body.bytes, headers: Listing.links(to: request, next: page.next?.text, previous: page.previous?.text))
    }

    private static func response(_ message: Message) -> Response {
        .json(JSONText { message.print(to: &$0) }.bytes, headers: [("ETag", EntityTag.quoted(message.etag))])
    }

    private static func placed(_ outcome: AppendOutcome) -> Response {
        let body = JSONText { writer in
            writer.beginObject()
            printAppended(of: outcome.events[0], outcome, to: &writer)
            writer.endObject()
        }
        let location = (name: "Location", value: eventList + "/" + outcome.events[0].event.id)
        return .json(body.bytes, status: 201, headers: outcome.replayHeaders + [location])
    }

    private func requiredVersion(_ request: Request, _ chat: ChatAccess) async throws -> String? {
        try await Precondition(request.headers).etag {
            try await chat.message(request.messageTimetoken(), in: request.name("channel")).etag
        }
    }
}

extension Request {
    /// The timetoken of the message in the path. The path may contain the event id instead.
    ///
    /// - Throws: `.notFound` when the path segment is neither a timetoken nor an event id.
    func messageTimetoken() throws(ChatError) -> Timetoken {
        try Timetoken(ofNamed: "message", name("timetoken"))
    }
}

extension Timetoken {
    /// Parses the timetoken or the id of the event that a request names.
    ///
    /// - Parameter what: the kind of the named object, such as `message`, for the text of the error.
    /// - Throws: `.notFound` when the text is neither a timetoken nor an event id.
    init(ofNamed what: String, _ text: String) throws(ChatError) {
        guard let timetoken = Timetoken(ofEvent: text) else {
            throw ChatError(
                .notFound,
                "no such \(what): '\(text.prefix(64))' is neither a timetoken of 17 digits nor an event id, evt_…")
        }
        self = timetoken
    }
}
