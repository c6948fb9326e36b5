public import ChatKit
public import ChatModel
import GatewayClient
import JSON

extension GatewayBackend {
    public func user(_ id: String) async throws(ChatError) -> UserRecord? {
        try await found(Call("GET", RequestPath("users", id))).map { $0.user }
    }

    public func users(_ list: RecordList) async throws(ChatError) -> Page<UserRecord> {
        try await page(RequestPath("users"), list) { $0.user }
    }

    public func create(user id: String, _ fields: UserFields) async throws(ChatError) -> UserRecord {
        var call = Call("PUT", RequestPath("users", id), body: fields.body(by: user))
        call.mustBeNew = true
        do throws(ChatError) {
            return try await send(call).object.user
        } catch {
            guard error.code == .stale else { throw error }
            throw ChatError(.conflict, "user '\(id)' already exists", slug: "already_exists")
        }
    }

    public func update(
        user id: String, _ fields: UserFields, eTag: String?
    ) async throws(ChatError) -> UserRecord {
        try await change(RequestPath("users", id), fields.body(by: user), eTag).user
    }

    public func delete(user id: String) async throws(ChatError) {
        try await remove(RequestPath("users", id).adding("by", user))
    }

    public func channel(_ id: String) async throws(ChatError) -> ChannelState? {
        try await found(Call("GET", RequestPath("channels", id)))?.channel
    }

    public func channels(_ list: RecordList) async throws(ChatError) -> Page<ChannelState> {
        try await page(RequestPath("channels"), list) { object throws(ChatError) in try object.channel }
    }

    public func create(
        channel id: String?, kind: ChannelKind, _ fields: ChannelFields, users: [String], isDistinct: Bool
    ) async throws(ChatError) -> ChannelState {
        let body = JSONText { writer in
            writer.beginObject()
            writer.member("kind", kind.rawValue)
            writer.member("by", user)
            if let id { writer.member("id", id) }
            if !users.isEmpty { writer.member("users", users) }
            if isDistinct { writer.member("distinct", true) }
            fields.printMembers(to: &writer)
            writer.endObject()
        }
        return try await send(Call("POST", RequestPath("channels"), body: body)).object.channel
    }

    public func update(
        channel id: String, _ fields: ChannelFields, eTag: String?
    ) async throws(ChatError) -> ChannelState {
        let body = JSONText { writer in
            writer.beginObject()
            writer.member("by", user)
            fields.printMembers(to: &writer)
            writer.endObject()
        }
        return try await change(RequestPath("channels", id), body, eTag).channel
    }

    public func delete(channel id: String) async throws(ChatError) {
        try await remove(RequestPath("channels", id).adding("by", user))
    }
}

// MARK: - Memberships

extension GatewayBackend {
    public func join(_ channel: String, _ fields: MembershipFields) async throws(ChatError) -> MembershipRecord {
        let path = RequestPath("channels", channel, "members", user)
        return try await send(Call("PUT", path, body: fields.body(by: user))).object.membership
    }

    public func leave(_ channel: String) async throws(ChatError) {
        try await end(RequestPath("channels", channel, "members", user).adding("by", user))
    }

    /// Ends a membership. Does nothing when the membership does not exist.
    private func end(_ membership: RequestPath) async throws(ChatError) {
        do throws(ChatError) {
            _ = try await send(Call("DELETE", membership))
        } catch {
            guard error.slug == "no_such_member" else { throw error }
        }
    }

    public func invite(_ users: [String], to channel: String) async throws(ChatError) -> [MembershipRecord] {
        let body = JSONText { writer in
            writer.beginObject()
            writer.member("users", users)
            writer.member("by", user)
            writer.endObject()
        }
        var call = Call("POST", RequestPath("channels", channel, "invites"), body: body)
        // Inviting a user again changes nothing, so the request can be repeated.
        call.isHarmless = true
        let answer = try await send(call)
        var memberships: [MembershipRecord] = []
        for item in try answer.items { memberships.append(try item.membership) }
        return memberships
    }

    public func declineInvite(to channel: String) async throws(ChatError) {
        let path = RequestPath("channels", channel, "invites", user, "decline")
        _ = try await send(Call("POST", path, body: .object("by", user)))
    }

    public func remove(member: String, from channel: String, reason: String?) async throws(ChatError) {
        try await end(by(RequestPath("channels", channel, "members", member)).adding("reason", reason))
    }

    public func hide(_ channel: String, hidesHistory: Bool, endsWithMessage: Bool) async throws(ChatError) {
        let body = body { writer in
            writer.member("hide_previous_messages", hidesHistory)
            writer.member("allow_auto_unhide", endsWithMessage)
        }
        _ = try await send(Call("PUT", RequestPath("channels", channel, "members", user, "hidden"), body: body))
    }

    public func unhide(_ channel: String) async throws(ChatError) {
        _ = try await send(Call("DELETE", by(RequestPath("channels", channel, "members", user, "hidden"))))
    }

    public func update(
        member: String, of channel: String, _ fields: MembershipFields, eTag: String?
    ) async throws(ChatError) -> MembershipRecord {
        try await change(RequestPath("channels", channel, "members", member), fields.body(by: user), eTag).membership
    }

    public func member(_ user: String, of channel: String) async throws(ChatError) -> MembershipRecord? {
        try await found(Call("GET", RequestPath("channels", channel, "members", user)))?.membership
    }

    public func members(of channel: String, _ list: RecordList) async throws(ChatError) -> Page<MembershipRecord> {
        try await page(RequestPath("channels", channel, "members"), list) { object throws(ChatError) in
            try object.membership
        }
    }

    public func memberships(of user: String, _ list: RecordList) async throws(ChatError) -> Page<MembershipRecord> {
        try await page(RequestPath("users", user, "memberships"), list) { object throws(ChatError) in
            try object.membership
        }
    }
}

// MARK: - Changes

extension GatewayBackend {
    /// Members that a change replaces as a whole. The gateway's `PATCH` merges them instead.
    private static let replaced: Set = ["custom", "data"]
    private static let changesMost = 5

    /// Changes a record. When the change contains ``replaced`` members, the record is read first, so that the patch can
    /// remove fields that the new value does not have. If another client changes the record between the read and the
    /// patch, the read and the patch are repeated.
    ///
    /// - Parameter eTag: the version that the record must have; nil for any version.
    private func change(
        _ path: RequestPath, _ body: JSONText, _ eTag: String?
    ) async throws(ChatError) -> ResponseObject {
        let members = body.rawMembers() ?? []
        var call = Call("PATCH", path, body: body)
        call.version = eTag
        guard members.contains(where: { Self.replaced.contains($0.name) }) else { return try await send(call).object }
        var changes = 0
        while true {
            changes += 1
            let present = try await found(Call("GET", path))
            call.version = eTag ?? present?.etag
            call.body = JSONText(
                members: members.map { member in
                    guard Self.replaced.contains(member.name), let there = present?.text.rawMember(member.name) else {
                        return member
                    }
                    return (member.name, there.mergePatch(to: member.value))
                })
            do throws(ChatError) {
                return try await send(call).object
            } catch {
                guard error.code == .stale, eTag == nil, changes < Self.changesMost else { throw error }
            }
        }
    }
}

// MARK: - Responses

extension GatewayBackend {
    /// Sends a call and returns the object in the response, or nil for the status 404.
    func found(_ call: Call) async throws(ChatError) -> ResponseObject? {
        do throws(ChatError) {
            return try await send(call).object
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
    }

    /// Deletes the resource at the path. Does nothing when the path has no resource.
    func remove(_ path: RequestPath) async throws(ChatError) {
        do throws(ChatError) {
            _ = try await send(Call("DELETE", path))
        } catch {
            guard error.code == .notFound else { throw error }
        }
    }

    func page<Item: Sendable>(
        _ path: RequestPath, _ list: RecordList, _ read: (ResponseObject) throws(ChatError) -> Item
    ) async throws(ChatError) -> Page<Item> {
        let path = path.adding("filter", list.filter).adding("sort", each: list.sort)
            .adding("order", list.order?.rawValue)
            .adding("after", list.after?.description).adding("before", list.before?.description)
            .adding("limit", "\(list.limit)").adding("cursor", list.cursor)
        let answer = try await send(Call("GET", path))
        var items: [Item] = []
        for item in try answer.items { items.append(try read(item)) }
        return Page(
            items: items, hasMore: answer["has_more"]?.boolean ?? false, cursor: answer["next_cursor"]?.string,
            total: answer["total"]?.integer.map { Int($0) })
    }

    func page<Item: Sendable>(
        _ path: RequestPath, _ limit: Int, _ cursor: String?, _ read: (ResponseObject) throws(ChatError) -> Item
    ) async throws(ChatError) -> Page<Item> {
        var list = RecordList()
        list.limit = limit
        list.cursor = cursor
        return try await page(path, list, read)
    }
}

extension GatewayBackend {
    public func group(_ id: String) async throws(ChatError) -> GroupRecord? {
        try await found(Call("GET", RequestPath("channel-groups", id)))?.group
    }

    public func groups(limit: Int, cursor: String?) async throws(ChatError) -> Page<String> {
        try await page(RequestPath("channel-groups"), limit, cursor) { object throws(ChatError) in
            try object.text("id")
        }
    }

    public func change(group id: String, adding: [String], removing: [String]) async throws(ChatError) {
        let body = JSONText { writer in
            writer.beginObject()
            writer.member("add", adding)
            writer.member("remove", removing)
            writer.endObject()
        }
        var call = Call("POST", RequestPath("channel-groups", id, "channels"), body: body)
        // Adding a channel that is already in the group changes nothing, so the request can be repeated.
        call.isHarmless = true
        _ = try await send(call)
    }

    public func delete(group id: String) async throws(ChatError) {
        try await remove(RequestPath("channel-groups", id))
    }
}

extension GatewayBackend {
    public func mark(
        _ mark: ReceiptMark, of user: String, in channel: String, at timetoken: Timetoken?
    ) async throws(ChatError) {
        let word =
            switch mark {
            case .delivered: "delivered"
            case .read: "read"
            }
        let body = body { writer in if let timetoken { writer.member("timetoken", timetoken) } }
        _ = try await send(Call("PUT", RequestPath("channels", channel, "members", user, word), body: body))
    }

    public func markAllRead() async throws(ChatError) -> [String] {
        var call = Call("POST", RequestPath("users", user, "read-all"), body: body { _ in })
        call.isHarmless = true
        return (try await send(call)["channels"]?.elements ?? []).compactMap(\.string)
    }

    public func unread(of user: String, in channel: String) async throws(ChatError) -> Int {
        let path = RequestPath("channels", channel, "members", user, "unread")
        return try await send(Call("GET", path)).count("unread_count")
    }

    public func unread() async throws(ChatError) -> UnreadCount {
        let answer = try await send(Call("GET", RequestPath("users", user, "unread")))
        return UnreadCount(total: try answer.count("unread_count"), byCustomType: answer.counts("by_custom_type"))
    }
}
