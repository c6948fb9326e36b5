import ChatCore
import ChatModel
import HTTPServer
import JSON

/// The sessions of a user's devices.
extension NativeAPI {
    func addSessionRoutes(to router: inout Router) {
        router.add(.get, "/v1/users/{user}/sessions", handler: asCaller(getSessions))
        router.add(.get, "/v1/users/{user}/sessions/{session}", handler: asCaller(getSession))
        router.add(.delete, "/v1/users/{user}/sessions/{session}", handler: asCaller(Self.unconditional(deleteSession)))
    }

    /// `GET /v1/users/{user}/sessions`: returns a page of the sessions of a user's devices.
    func getSessions(_ request: Request, _ caller: Caller) async throws -> Response {
        let user = try Self.sessionUser(request, caller, needing: .read)
        let listing = try Listing(Parameters(request.query, known: Listing.timedNames), of: request, limits: limits)
        let sessions = try await streams.allSessions(of: user).sessions
        return Listing.response(try listing.page(of: sessions, id: \.id, time: { $0.opened }), to: request) {
            $1.raw($0.json)
        }
    }

    /// `GET /v1/users/{user}/sessions/{session}`: returns a session of a user's device, or 404 when there is none.
    func getSession(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let user = try Self.sessionUser(request, caller, needing: .read)
        let id = request.name("session")
        let (sessions, answers) = try await streams.allSessions(of: user)
        guard let session = sessions.first(where: { $0.id == id }) else {
            try answers.requireComplete()
            throw LiveStreams.unknownSession
        }
        return .json(session.json.bytes)
    }

    /// `DELETE /v1/users/{user}/sessions/{session}`: ends a session and its streams. Returns no content.
    func deleteSession(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let user = try Self.sessionUser(request, caller, needing: caller.user == nil ? .manage : .read)
        try await streams.endSession(request.name("session"), of: user)
        return .empty()
    }

    /// The user whose sessions the request names. A user's credential may see and end only the sessions of that
    /// user. Any other credential must cover all channels, because a user's device may follow any channel.
    private static func sessionUser(
        _ request: Request, _ caller: Caller, needing scope: Scopes
    ) throws(ChatError) -> UserID {
        let user = request.parameters["user"] ?? ""
        try Names.check(user: user)
        try caller.require(scope)
        if let own = caller.user, ExactText(own) != ExactText(user) {
            throw ChatError(.forbidden, "this credential may act for user '\(own)' only")
        }
        if caller.user == nil { try caller.demandEveryChannel() }
        return UserID(user, in: caller.app)
    }
}

/// A call of another node about the sessions of a user's devices.
struct SessionCall: Sendable {
    var user: UserID
    /// The id of the session to end; nil to list all sessions.
    var session: String?

    /// The names of the calls between nodes.
    static let list = "sessions"
    static let end = "session.end"

    init(_ user: UserID, session: String? = nil) { (self.user, self.session) = (user, session) }

    var json: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("app", user.app.name)
            writer.member("user", user.name)
            if let session { writer.member("session", session) }
            writer.endObject()
        }
    }

    /// Parses the JSON that ``json`` prints; nil for another value.
    init?(_ value: JSONValue) {
        guard let app = value["app"]?.string, let user = value["user"]?.string else { return nil }
        self.init(UserID(user, in: AppID(app)), session: value["session"]?.string)
    }
}

extension LiveStreams {
    static let unknownSession = ChatError(.notFound, "the user has no session with this id")

    /// The sessions of a user's devices on all nodes, in the order in which they were opened, and the answers of the
    /// other nodes.
    nonisolated func allSessions(
        of user: UserID
    ) async throws(ChatError) -> (sessions: [ListItem], answers: NodeAnswers) {
        let own = await sessionItems(of: user)
        let others = try await service.nodes.callAll(SessionCall.list, SessionCall(user).json, for: user.app)
        let all = own + others.all.flatMap { ListPart($0.answer)?.items ?? [] }
        return (all.sorted { ($0.opened, $0.id) < ($1.opened, $1.id) }, others)
    }

    func sessionItems(of user: UserID) -> [ListItem] {
        sessions.all(of: user).map { ListItem(id: $0.id, opened: $0.opened, json: $0.json) }
    }

    /// Ends a session and its streams permanently, on whichever node.
    ///
    /// - Throws: `.notFound` when the user has no session with this id; `.unavailable` when a node that may have the
    ///   session does not answer.
    nonisolated func endSession(_ id: String, of user: UserID) async throws(ChatError) {
        if await cancelSession(id, of: user) { return }
        let call = SessionCall(user, session: id).json
        let answers = try await service.nodes.callAll(SessionCall.end, call, for: user.app)
        guard answers.all.contains(where: { $0.answer == Self.sessionEnded }) else {
            try answers.requireComplete()
            throw Self.unknownSession
        }
    }

    /// The answer of a node that has ended a session.
    static let sessionEnded = JSONText { $0.boolean(true) }
}

extension DeviceSession {
    /// The session as the API returns it.
    var json: JSONText { JSONText { print(to: &$0) } }

    private func print(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("id", id)
        writer.member("device", device)
        writer.member("state", isOpen ? "open" : "reconnecting")
        writer.member("attempt", attempt)
        writer.member("streams", streams.count)
        writer.member("opened_at", opened.timestamp)
        if let lost {
            writer.member("lost_at", lost.timestamp)
            writer.member("expires_at", lost.adding(DeviceSessions.resumeWindow).timestamp)
        } else {
            writer.nullMember("lost_at")
            writer.nullMember("expires_at")
        }
        writer.endObject()
    }
}
