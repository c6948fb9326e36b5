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
        guard !isUsedHere(ticket.nonce) else { return .here }
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

    private func streamIfMoved(_ nonce: StreamTicket.Nonce) async -> UInt64? {
        // A failure leaves the old stream open until its client's network is found dead.
        guard let record = try? await service.engine.directory.read(Self.recordKey(of: nonce)),
            let holder = TicketHolder(record), holder.node != service.nodes.node
        else { return nil }
        return forget(nonce)
    }
}

/// A call of another node to which a client has reconnected with a ticket.
struct TicketCall: Sendable {
    var ticket: String
    /// The last id of the client.
    var id: String

    /// The name of the call between nodes.
    static let callName = "ticket"

    var json: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("ticket", ticket)
            writer.member("id", id)
            writer.endObject()
        }
    }
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
        _ ticket: StreamTicket, _ text: String, lastID: String, _ chat: ChatAccess
    ) async throws -> TicketUse {
        switch try await tickets.place(of: ticket) {
        case .here, .nowhere:
            try await requireSent(lastID, to: ticket, chat)
            return .here
        case .elsewhere(let node, let etag):
            let call = TicketCall(ticket: text, id: lastID)
            do throws(ChatError) {
                let answer = try await service.nodes.call(TicketCall.callName, of: node, call.json, for: ticket.app)
                if let answer {
                    let isFinished = answer == JSONText(string: StreamTickets.TicketResult.finished.rawValue)
                    return isFinished ? .finished : .moving(etag: etag)
                }
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
        let (caller, ticket) = try tickets.caller(of: call.ticket)
        guard tickets.isUsedHere(ticket.nonce) else { throw StreamTickets.refusal }
        try await requireSent(call.id, to: ticket, service.chat(for: caller))
        return JSONText(string: try await tickets.use(ticket, isResuming: true).rawValue)
    }

    private nonisolated func requireSent(_ id: String, to ticket: StreamTicket, _ chat: ChatAccess) async throws {
        try await tickets.requireSent(id, to: ticket) { position in
            if await hasSent(position, by: ticket.nonce) { return true }
            guard let event = try await event(at: position, chat) else { return false }
            return tickets.covers(event, by: ticket)
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
        tickets.observeMoves { [weak self] stream in
            guard let self else { return }
            loop.post {
                self.assumeIsolated { streams in
                    if let stream = streams.roll[stream] { streams.close(stream, .replaced) }
                }
            }
        }
    }
}
