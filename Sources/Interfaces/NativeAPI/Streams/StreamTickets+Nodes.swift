import ChatCore
import ChatModel
import HTTPServer
import JSON
import Text

/// The content of a ticket's record: the node that has the ticket's stream, or had it last.
struct TicketHolder: Sendable {
    var node: Int64

    var body: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("node", node)
            writer.endObject()
        }
    }
}

extension TicketHolder {
    init?(_ record: Record) {
        guard let node = try? JSONDocument(record.body).root["node"]?.integer else { return nil }
        self.init(node: node)
    }
}

extension StreamTickets {
    /// The place of a ticket's use.
    enum UsePlace: Sendable {
        case here
        case nowhere
        /// The use is on another node. `etag` is the version of the ticket's record.
        case elsewhere(node: Int64, etag: String)
        /// The use was in the memory of a process that has stopped.
        case lost(etag: String)
    }

    static func recordKey(of nonce: StreamTicket.Nonce) -> RecordKey {
        RecordKey(.streamTicket, Hex.encode(nonce.bytes), in: .gateway)
    }

    func place(of ticket: StreamTicket) async throws(ChatError) -> UsePlace {
        guard ticketUsedHere(ticket.nonce) == nil else { return .here }
        guard let record = try await service.engine.directory.read(Self.recordKey(of: ticket.nonce)),
            let holder = TicketHolder(record)
        else { return .nowhere }
        guard holder.node != service.nodes.node else { return .lost(etag: record.etag) }
        return .elsewhere(node: holder.node, etag: record.etag)
    }

    /// Calls `body` with the number of a stream whose ticket another node has taken over.
    func observeMoves(_ body: @escaping @Sendable (UInt64) -> Void) {
        service.engine.directory.observe { [weak self] changes in
            for key in changes.keys where key.kind == .streamTicket {
                guard let self, let nonce = Hex.decode(key.id).flatMap(StreamTicket.Nonce.init), mayHaveMoved(nonce)
                else { continue }
                Task { if let stream = await self.streamIfMoved(nonce) { body(stream) } }
            }
        }
    }

    /// The number of a ticket's open stream, if another node has taken the ticket over.
    func streamIfMoved(_ nonce: StreamTicket.Nonce) async -> UInt64? {
        // A failure leaves the old stream open until its client's network is found dead.
        guard let record = try? await service.engine.directory.read(Self.recordKey(of: nonce)),
            let holder = TicketHolder(record), holder.node != service.nodes.node
        else { return nil }
        return forget(nonce)
    }
}

/// A call of another node to which a client has reconnected with a ticket. It does not contain the ticket's text, with
/// which anyone could resume the stream, because calls are stored.
struct TicketCall: Sendable {
    var nonce: StreamTicket.Nonce
    /// The last id of the client.
    var id: String

    /// The name of the call between nodes.
    static let callName = "ticket"

    var json: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("nonce", Hex.encode(nonce.bytes))
            writer.member("id", id)
            writer.endObject()
        }
    }

    init(_ ticket: StreamTicket, id: String) { (nonce, self.id) = (ticket.nonce, id) }

    /// Parses the JSON that ``json`` prints; nil for another value.
    init?(_ value: JSONValue) {
        guard let nonce = value["nonce"]?.string.flatMap(Hex.decode).flatMap(StreamTicket.Nonce.init),
            let id = value["id"]?.string
        else { return nil }
        (self.nonce, self.id) = (nonce, id)
    }

    /// The answer of a node that has no use of the ticket in memory.
    static let unknown = "unknown"
}

extension LiveStreams {
    /// The result of the checks of a request with a ticket.
    enum TicketUse: Sendable {
        /// The ticket is used on this node, or for the first time.
        case here
        /// The use moves to this node. `etag` is the version of the ticket's record.
        case moving(etag: String)
        /// The ticket's stream was ended permanently.
        case finished
    }

    /// Checks the last id of a client that reconnects with a ticket. It must be an id that was sent on the ticket's
    /// stream. If another node has the stream, that node checks the id.
    ///
    /// - Throws: `.unauthorized` for a wrong id, and for a ticket that can resume nothing; the errors of the store.
    nonisolated func resume(
        _ ticket: StreamTicket, lastID: String, _ chat: ChatAccess
    ) async throws -> TicketUse {
        switch try await tickets.place(of: ticket) {
        case .nowhere:
            try await requireSent(lastID, to: ticket, chat)
            return .here
        case .here:
            guard try await isSent(lastID, onOwn: ticket, chat) else {
                return try await resume(ticket, lastID: lastID, chat)
            }
            return .here
        case .elsewhere(let node, let etag):
            let call = TicketCall(ticket, id: lastID)
            do throws(ChatError) {
                let answer = try await service.nodes.call(TicketCall.callName, of: node, call.json, for: ticket.app)
                if answer == JSONText(string: StreamTickets.TicketResult.finished.rawValue) { return .finished }
                // A node that has taken the ticket over, and whose client has disconnected before its stream was open,
                // has no use of the ticket. Nor has a node from which the ticket was taken a moment ago.
                if let answer, answer != JSONText(string: TicketCall.unknown) { return .moving(etag: etag) }
            } catch {
                // The node has probably just ended. An error would end the client's stream for good, because an
                // EventSource connects again only after a response with 200. If the node lives, the new use of the ticket
                // closes its stream.
                guard error.code == .unavailable || error.code == .overloaded else { throw error }
            }
            try await requireReadable(lastID, ticket, chat)
            return .moving(etag: etag)
        case .lost(let etag):
            try await requireReadable(lastID, ticket, chat)
            return .moving(etag: etag)
        }
    }

    /// Answers a call about a ticket whose use is in the memory of this node.
    nonisolated func answer(_ call: TicketCall) async throws -> JSONText {
        guard let ticket = tickets.ticketUsedHere(call.nonce),
            try await isSent(call.id, onOwn: ticket, service.chat(for: tickets.caller(of: ticket)))
        else { return JSONText(string: TicketCall.unknown) }
        do throws(ChatError) {
            return JSONText(string: try await tickets.use(ticket, isResuming: true).rawValue)
        } catch {
            guard error.code == .stale else { throw error }
            return JSONText(string: TicketCall.unknown)
        }
    }

    /// Checks an id of a ticket whose use is on this node. Returns false when another node has taken the ticket over
    /// during the check, so that this node does not know the ids any more.
    private nonisolated func isSent(
        _ id: String, onOwn ticket: StreamTicket, _ chat: ChatAccess
    ) async throws -> Bool {
        do {
            try await requireSent(id, to: ticket, chat)
            return true
        } catch {
            guard tickets.ticketUsedHere(ticket.nonce) == nil else { throw error }
            tickets.forgetDoubt(of: ticket.nonce)
            return false
        }
    }

    private nonisolated func requireSent(_ id: String, to ticket: StreamTicket, _ chat: ChatAccess) async throws {
        try await tickets.requireSent(id, to: ticket) { position in
            if await hasSent(position, by: ticket.nonce) { return true }
            guard let event = try await event(at: position, chat) else { return false }
            return tickets.isArriving(ticket.nonce) || tickets.covers(event, by: ticket)
        }
    }

    /// Checks a last id when the process that had the stream has stopped.
    private nonisolated func requireReadable(_ id: String, _ ticket: StreamTicket, _ chat: ChatAccess) async throws {
        try await tickets.requireSent(id, to: ticket) { try await event(at: $0, chat) != nil }
    }

    /// The event at a position of the log; nil when there is no such event or the ticket's holder may not read it.
    private nonisolated func event(at position: Timetoken, _ chat: ChatAccess) async throws(ChatError) -> Event? {
        do throws(ChatError) {
            return try await chat.event(position)
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
    }

    /// Returns true when the id is among the newest ids that were sent on the ticket's open stream.
    private func hasSent(_ id: Timetoken, by ticket: StreamTicket.Nonce) -> Bool {
        tickets.stream(of: ticket).flatMap { roll[$0] }?.feed.newestIDs.contains(id) ?? false
    }

    /// Closes the streams whose tickets other nodes take over.
    nonisolated func closeMovedStreams() {
        tickets.observeMoves { [weak self] stream in self?.closeMoved(stream) }
    }

    private nonisolated func closeMoved(_ stream: UInt64) {
        loop.post { [weak self] in
            self?.assumeIsolated { streams in
                if let stream = streams.roll[stream] { streams.close(stream, .replaced) }
            }
        }
    }

    /// Closes a stream that was just opened, if another node has taken its ticket over meanwhile.
    nonisolated func closeIfMoved(_ ticket: StreamTicket) {
        Task { if let stream = await tickets.streamIfMoved(ticket.nonce) { closeMoved(stream) } }
    }
}

extension ChatError {
    /// The error when another node has taken a ticket over during its resumption.
    static let movedMeanwhile = ChatError(.stale, "the ticket was used on another node at the same time")
}
