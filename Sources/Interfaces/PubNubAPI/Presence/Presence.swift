import ChatCore
import ChatModel
import HTTPServer
import JSON

/// Presence calls of the PubNub API: heartbeat, leave, where-now and state.
extension PubNubAPI {
    func addPresenceRoutes(to router: inout Router) {
        let base = "/v2/presence/sub-key/{s}"
        let reading = AccessRule.channels(.read, at: 5, key: 3)
        add(.get, RoutePattern(base), in: .presence, for: .signed(key: 3), to: &router, getEverywhere)
        add(.get, RoutePattern(base + "/channel/{C}"), in: .presence, for: reading, to: &router, getHereNow)
        add(.get, RoutePattern(base + "/channel/{C}/heartbeat"), in: .presence, for: reading, to: &router, getHeartbeat)
        add(.get, RoutePattern(base + "/channel/{C}/leave"), in: .presence, for: reading, to: &router, getLeave)
        add(.get, RoutePattern(base + "/channel/{C}/uuid/{u}"), in: .presence, for: reading, to: &router, getState)
        add(
            .get, RoutePattern(base + "/channel/{C}/uuid/{u}/data"), in: .presence,
            for: .channels(.read, at: 5, by: 7, key: 3), to: &router, setState)
        add(.get, RoutePattern(base + "/uuid/{u}"), in: .presence, for: .everyone(key: 3), to: &router, getWhereNow)
    }

    /// Returns the channels of a presence call.
    ///
    /// - Parameter isWanted: selects the channels of groups to include. Other channels of groups are left out and do
    ///   not count towards the limit.
    func place(
        _ request: WireRequest, _ chat: ChatAccess, where isWanted: (String) -> Bool = { _ in true }
    ) async throws -> PresenceTarget {
        let groups = try await GroupChannels(request.list("channel-group"), chat, where: isWanted)
        return try PresenceTarget(try request.names(5), groups, chat.limits)
    }

    private func getHeartbeat(_ request: WireRequest) async throws -> Response {
        let keyset = try keyset(of: request, at: 3)
        let chat = chat(keyset, for: request)
        let user = try request.requireUser()
        let place = try await place(request, chat)
        let joining = place.channels.filter { !service.presence.isPresent(user, ChannelID($0, in: keyset.app)) }
        if !joining.isEmpty {
            heartbeatJoins.record(
                joining, of: UserID(user, in: keyset.app), after: try await chat.watermark(), at: service.clock.now)
        }
        let duration = presenceTimeouts.duration(request.heartbeat, of: UserID(user, in: keyset.app), limits)
        try await chat.appear(
            user, onAll: place.channels, for: duration, showing: place.states(request["state"], limits))
        return .presence { _ in }
    }

    private func getLeave(_ request: WireRequest) async throws -> Response {
        let keyset = try keyset(of: request, at: 3)
        let chat = chat(keyset, for: request)
        let user = try request.requireUser()
        // Only channels on which the user is present, by way of any node, count towards the limit. Leaving therefore
        // succeeds even if the groups have grown beyond the limit.
        var present: Set<ExactText> = []
        if !request.list("channel-group").isEmpty {
            present = Set(try await chat.presentChannels(of: user).map { ExactText($0) })
        }
        let place = try await place(request, chat) { [present] channel in
            present.contains(ExactText(channel))
                || service.presence.isPresent(user, ChannelID(channel, in: keyset.app))
        }
        // The next handshake must not return a position before a join that this leave ends.
        heartbeatJoins.forget(place.channels, of: UserID(user, in: keyset.app))
        try await chat.disappear(user, fromAll: place.channels)
        return .presence { $0.member("action", "leave") }
    }

    private func getWhereNow(_ request: WireRequest) async throws -> Response {
        let keyset = try keyset(of: request, at: 3)
        let channels = try await chat(keyset, for: request).presentChannels(of: request.segment(5) ?? "")
            .filter { request.mayRead(.channel, $0) }
        return .presence { writer in
            writer.key("payload")
            writer.beginObject()
            writer.member("channels", channels)
            writer.endObject()
        }
    }

    // MARK: State

    private func setState(_ request: WireRequest) async throws -> Response {
        let keyset = try keyset(of: request, at: 3)
        let chat = chat(keyset, for: request)
        let user = request.segment(7) ?? ""
        try Names.check(user: user)
        guard let text = request["state"], let state = WirePayload(Array(text.utf8), depth: limits.jsonDepth),
            state.value.kind == .object
        else { throw WireError.noState }
        for channel in try await place(request, chat).channels {
            do throws(ChatError) {
                try await chat.show(state.text, as: user, on: channel, tellsAgain: true)
            } catch {
                // A user who is not present has no state. Clients send the state again with their next heartbeat.
                guard error.slug == "not_present" else { throw error }
            }
        }
        return .presence { $0.member("payload", state.text) }
    }

    private func getState(_ request: WireRequest) async throws -> Response {
        let keyset = try keyset(of: request, at: 3)
        let chat = chat(keyset, for: request)
        let user = request.segment(7) ?? ""
        try Names.check(user: user)
        let place = try await place(request, chat)
        var states: [(channel: String, state: JSONText)] = []
        for channel in place.channels {
            states.append((channel, try await chat.occupant(user, of: channel)?.state ?? .emptyObject))
        }
        if let channel = place.single {
            return .presence { writer in
                writer.member("payload", states.first?.state ?? .emptyObject)
                writer.member("uuid", user)
                writer.member("channel", channel)
            }
        }
        return .presence { writer in
            writer.key("payload")
            writer.beginObject()
            writer.key("channels")
            writer.beginObject()
            for (channel, state) in states {
                writer.key(text: channel)
                writer.raw(state)
            }
            writer.endObject()
            writer.endObject()
            writer.member("uuid", user)
        }
    }
}

extension Response {
    /// The response to a successful presence call, with additional members.
    static func presence(_ print: (inout JSONWriter) -> Void) -> Response {
        .wire { writer in
            writer.beginObject()
            writer.member("status", 200)
            writer.member("message", "OK")
            print(&writer)
            writer.member("service", "Presence")
            writer.endObject()
        }
    }
}
