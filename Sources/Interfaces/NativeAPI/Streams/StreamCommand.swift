import ChatCore
import ChatModel
import HTTPServer
import JSON

/// A request about one open stream. The node that holds the stream's connection performs it, whichever node receives it.
struct StreamCommand: Sendable {
    enum Action: Sendable {
        case show
        /// Changes the stream's selection; nil keeps the channels or types.
        case change(channels: [String]?, types: [String]?)
        case end
    }

    var stream: String
    var action: Action
    var caller: Caller

    /// The name of the command in calls between nodes.
    static let callName = "stream"

    init(_ action: Action, _ stream: String, by caller: Caller) {
        (self.stream, self.action, self.caller) = (stream, action, caller)
    }

    var json: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("stream", stream)
            writer.member("caller", caller.json)
            switch action {
            case .show: writer.member("action", "show")
            case .end: writer.member("action", "end")
            case .change(let channels, let types):
                writer.member("action", "change")
                if let channels { writer.member("channels", channels) }
                if let types { writer.member("types", types) }
            }
            writer.endObject()
        }
    }

    /// Parses the JSON that ``json`` prints; nil for a command that this version does not know.
    init?(_ value: JSONValue) {
        guard let stream = value["stream"]?.string, let caller = Caller(value["caller"]) else { return nil }
        switch value["action"]?.string {
        case "show": self.init(.show, stream, by: caller)
        case "end": self.init(.end, stream, by: caller)
        case "change":
            self.init(
                .change(channels: value["channels"]?.strings, types: value["types"]?.strings), stream, by: caller)
        default: return nil
        }
    }
}

extension LiveStreams {
    static let unknownStream = ChatError(.notFound, "no open stream has this id")

    /// Performs a command on the node that holds the stream.
    ///
    /// - Returns: the stream as the API returns it; `null` after ``StreamCommand/Action/end``.
    /// - Throws: `.notFound` when the stream does not exist or the caller may not see it; `.unavailable` when the
    ///   stream's node does not answer.
    nonisolated func perform(_ command: StreamCommand) async throws(ChatError) -> JSONText {
        guard let node = StreamIDs.node(of: command.stream), node != service.nodes.node else {
            return try await performHere(command)
        }
        let answer = try await service.nodes.call(
            StreamCommand.callName, of: node, command.json, for: command.caller.app)
        guard let answer else { throw Self.unknownStream }
        return answer
    }

    private nonisolated func performHere(_ command: StreamCommand) async throws(ChatError) -> JSONText {
        let (id, caller) = (command.stream, command.caller)
        switch command.action {
        case .show: return try await report(id, for: caller).json
        case .change(let channels, let types):
            if let channels { try await prepare(id, for: channels, caller) }
            try await awaitDelivery(caller)
            return try await change(id, channels: channels, types: types, for: caller).json
        case .end:
            try await awaitDelivery(caller)
            try await remove(id, for: caller)
            return .null
        }
    }

    /// Answers the calls of other nodes about the streams, sessions and tickets of this node.
    nonisolated func answerCalls() {
        let nodes = service.nodes
        nodes.answer(StreamCommand.callName) { [weak self] argument in
            guard let self, let command = StreamCommand(argument) else { throw Self.unknownStream }
            return try await performHere(command)
        }
        nodes.answer(StreamListQuery.callName) { [weak self] argument in
            guard let self, let query = StreamListQuery(argument) else { throw Self.unknownStream }
            return try await part(query).json
        }
        nodes.answer(TicketCall.callName) { [weak self] argument in
            guard let self, let call = TicketCall(argument) else { throw StreamTickets.refusal }
            return try await answer(call)
        }
        nodes.answer(SessionCall.list) { [weak self] argument in
            guard let self, let call = SessionCall(argument) else { throw Self.unknownSession }
            return ListPart(items: await sessionItems(of: call.user), hasMore: false).json
        }
        nodes.answer(SessionCall.end) { [weak self] argument in
            guard let self, let call = SessionCall(argument), let session = call.session,
                await cancelSession(session, of: call.user)
            else { throw Self.unknownSession }
            return Self.sessionEnded
        }
    }

    /// Looks up the rights that the new channels need. For a device's stream, the lookup finds out whether each channel
    /// is members-only. Any other stream of a user may follow only the channels that the user may read.
    private nonisolated func prepare(_ id: String, for channels: [String], _ caller: Caller) async throws(ChatError) {
        let (owner, viewer) = try await listener(of: id, for: caller)
        let chat = service.chat(for: owner)
        let selection = try chat.selection(channels: channels)
        guard let viewer else { return try await chat.requireAccess(selection) }
        _ = try await chat.selection(selection, heardBy: viewer.user, on: viewer.device)
    }

    /// Waits until streams have received the events that were emitted before the request. A change of the selection
    /// then applies only to later events.
    private nonisolated func awaitDelivery(_ caller: Caller) async throws(ChatError) {
        let newest = try await service.chat(for: caller).watermark()
        guard await service.hub.reach(newest) else { throw ChatError.notListening }
    }
}
