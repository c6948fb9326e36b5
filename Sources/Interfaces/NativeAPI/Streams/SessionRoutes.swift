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
        let sessions = await streams.sessions.all(of: user)
        return Listing.response(try listing.page(of: sessions, id: \.id, time: { $0.opened }), to: request) {
            $0.print(to: &$1)
        }
    }

    /// `GET /v1/users/{user}/sessions/{session}`: returns a session of a user's device, or 404 when there is none.
    func getSession(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let user = try Self.sessionUser(request, caller, needing: .read)
        let id = request.name("session")
        guard let session = await streams.sessions.all(of: user).first(where: { $0.id == id }) else {
            throw ChatError(.notFound, "the user has no session with this id")
        }
        return .json(JSONText { session.print(to: &$0) }.bytes)
    }

    /// `DELETE /v1/users/{user}/sessions/{session}`: ends a session and its streams. Returns no content.
    func deleteSession(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let user = try Self.sessionUser(request, caller, needing: caller.user == nil ? .manage : .read)
        try await streams.cancelSession(request.parameters["session"] ?? "", of: user)
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

extension DeviceSession {
    func print(to writer: inout JSONWriter) {
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
