public import ChatKit
public import ChatModel
import GatewayClient
import JSON

extension GatewayBackend {
    public func send(_ posting: OutgoingMessage, _ links: MessageReferences) async throws(ChatError) -> Timetoken {
        try await post(posting, links)
    }

    public func message(_ timetoken: Timetoken, in channel: String) async throws(ChatError) -> MessageState? {
        try await found(Call("GET", path(timetoken, channel))).flatMap { MessageState($0.text) }
    }

    public func messages(_ query: EventQuery) async throws(ChatError) -> Page<MessageState> {
        let path = range(of: query, RequestPath("channels", query.channel, "messages"))
            .adding("order", query.order == .newestFirst ? "desc" : "asc").adding("limit", "\(query.limit)")
        return try await states(Call("GET", path))
    }

    public func replies(
        to timetoken: Timetoken, in channel: String, limit: Int, cursor: String?
    ) async throws(ChatError) -> Page<MessageState> {
        try await states(
            Call("GET", path(timetoken, channel, "thread").adding("limit", "\(limit)").adding("cursor", cursor)))
    }

    public func edit(
        _ timetoken: Timetoken, in channel: String, _ content: EditedContent
    ) async throws(ChatError) -> MessageState {
        let body = body { writer in
            switch content {
            case .text(let text): writer.member("text", text)
            case .all(let value): writer.member("data", value.text)
            }
        }
        return try await state(send(Call("PATCH", path(timetoken, channel), body: body)))
    }

    public func delete(_ timetoken: Timetoken, in channel: String, isHard: Bool) async throws(ChatError) {
        let path = by(path(timetoken, channel)).adding("hard", isHard ? "true" : nil)
        _ = try await send(Call("DELETE", path))
    }

    public func react(_ value: String, to timetoken: Timetoken, in channel: String) async throws(ChatError) {
        _ = try await send(Call("PUT", path(timetoken, channel, "reactions", value).adding("user", user)))
    }

    public func removeReaction(_ value: String, from timetoken: Timetoken, in channel: String) async throws(ChatError) {
        _ = try await send(Call("DELETE", path(timetoken, channel, "reactions", value).adding("user", user)))
    }

    public func reactions(
        to timetoken: Timetoken, in channel: String, cursor: String?
    ) async throws(ChatError) -> Page<Reaction> {
        try await page(path(timetoken, channel, "reactions"), 250, cursor) { object throws(ChatError) in
            Reaction(
                value: try object.text("value"), userId: try object.text("user"),
                timetoken: object.timetoken("action_timetoken"))
        }
    }

    public func addAction(
        _ type: String, _ value: String, to timetoken: Timetoken, in channel: String
    ) async throws(ChatError) -> MessageAction {
        let body = JSONText { writer in
            writer.beginObject()
            writer.member("type", type)
            writer.member("value", value)
            writer.member("user", user)
            writer.endObject()
        }
        return try await send(Call("POST", path(timetoken, channel, "actions"), body: body)).object.action
    }

    public func removeAction(
        _ place: Timetoken, from timetoken: Timetoken, in channel: String
    ) async throws(ChatError) {
        let path = path(timetoken, channel, "actions", place.description).adding("user", user)
        _ = try await send(Call("DELETE", path))
    }

    public func actions(of timetoken: Timetoken, in channel: String) async throws(ChatError) -> [MessageAction] {
        let answer = try await send(Call("GET", path(timetoken, channel, "actions").adding("limit", "250")))
        var actions: [MessageAction] = []
        for item in try answer.items { actions.append(try item.action) }
        return actions
    }

    public func pin(_ timetoken: Timetoken, in channel: String) async throws(ChatError) {
        _ = try await send(Call("PUT", by(path(timetoken, channel, "pin"))))
    }

    public func unpin(_ timetoken: Timetoken, in channel: String) async throws(ChatError) {
        _ = try await send(Call("DELETE", by(path(timetoken, channel, "pin"))))
    }

    public func forward(
        _ timetoken: Timetoken, in channel: String, to target: String
    ) async throws(ChatError) -> Timetoken {
        let call = Call("POST", path(timetoken, channel, "forward"), body: body("channel", target))
        return try await send(call).timetoken("timetoken")
    }

    public func report(_ timetoken: Timetoken, in channel: String, reason: String) async throws(ChatError) {
        var call = Call("POST", path(timetoken, channel, "report"), body: body("reason", reason))
        // Repeated reports of a message by the same user count once, so the request can be repeated.
        call.isHarmless = true
        _ = try await send(call)
    }

    public func reports(_ query: EventQuery) async throws(ChatError) -> Page<Event> {
        try await events(range(of: query, by(RequestPath("channels", query.channel, "reports"))), query)
    }

    private func path(_ timetoken: Timetoken, _ channel: String, _ more: String...) -> RequestPath {
        RequestPath(["channels", channel, "messages", timetoken.description] + more)
    }

    /// Returns a request body with the text member `name` and the acting user.
    private func body(_ name: StaticString, _ value: String) -> JSONText { body { $0.member(name, value) } }

    private func state(_ answer: GatewayResponse) throws(ChatError) -> MessageState {
        guard let state = MessageState(answer.text) else { throw .foreignAnswer }
        return state
    }

    private func states(_ call: Call) async throws(ChatError) -> Page<MessageState> {
        let answer = try await send(call)
        return Page(
            items: try answer.items.compactMap { MessageState($0.text) }, hasMore: answer["has_more"]?.boolean ?? false,
            cursor: answer["next_cursor"]?.string)
    }
}

extension JSONText {
    /// Returns an object with one text member.
    static func object(_ name: StaticString, _ value: String) -> JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member(name, value)
            writer.endObject()
        }
    }
}
