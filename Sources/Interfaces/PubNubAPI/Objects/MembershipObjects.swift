import ChatCore
import ChatModel
import HTTPServer
import JSON

/// Membership calls of the PubNub API: the channels of a user, and the members of a channel.
extension PubNubAPI {
    private static let changesMost = 100

    // MARK: Of a user

    func getMemberships(_ request: WireRequest) async throws -> Response {
        let keyset = try keyset(of: request, at: 2)
        let (user, chat) = (request.segment(4) ?? "", chat(keyset, for: request))
        if let filter = Self.restrictionFilter(request) {
            return try await restrictions(of: user, filter: filter, request, chat)
        }
        return try await memberships(of: user, try ObjectPage(request), request, chat)
    }

    /// Sets and removes memberships of one user. The channels are changed one after the other, because each channel has
    /// its own counts and its own events about members.
    func patchMemberships(_ request: WireRequest) async throws -> Response {
        let keyset = try keyset(of: request, at: 2)
        let chat = chat(keyset, for: request)
        let user = request.segment(4) ?? ""
        let body = try ObjectBody(request.body, limits)
        let setting = try body.memberships("set", of: "channel")
        let removing = try body.memberships("delete", of: "channel")
        let filter = Self.restrictionFilter(request)
        let page = try await page(
            of: filter == nil ? .wireMemberships : .wireRestrictedChannels, for: request,
            afterChanging: setting + removing, chat)
        try Names.check(user: user)
        for (channel, _) in setting + removing { try Names.check(channel: channel) }
        try requireModerator(for: (setting + removing).map(\.id), request, keyset)
        let actor = try request.user()
        for (channel, edit) in setting { try await Self.set([(user, edit)], in: channel, by: actor, chat) }
        for (channel, _) in removing { try await Self.remove([user], from: channel, by: actor, chat) }
        if let filter {
            return try await restrictions(of: user, filter: filter, request, chat)
        }
        return try await memberships(of: user, page, request, chat)
    }

    private func memberships(
        of user: String, _ page: ObjectPage, _ request: WireRequest, _ chat: ChatAccess
    ) async throws -> Response {
        let include = ObjectInclude(request, other: "channel")
        let memberships = try await listing { () async throws(ChatError) in
            try await chat.memberships(of: user, page.list(.wireMemberships))
        }
        let names = memberships.items.map(\.channel)
        let channels = include.other == nil ? [] : try await chat.channels(named: names)
        let known = Self.table(names, channels)
        return .structured { writer in
            page.print(memberships, to: &writer) { membership, writer in
                membership.print(include.own, "channel", to: &writer) { writer in
                    if let fields = include.other, let channel = known[ExactText(membership.channel)] {
                        channel.print(fields, to: &writer)
                    } else {
                        writer.bareID(membership.channel)
                    }
                }
            }
        }
    }

    // MARK: Of a channel

    func getMembers(_ request: WireRequest) async throws -> Response {
        let keyset = try keyset(of: request, at: 2)
        return try await members(
            of: request.segment(4) ?? "", try ObjectPage(request), request, keyset)
    }

    func patchMembers(_ request: WireRequest) async throws -> Response {
        let keyset = try keyset(of: request, at: 2)
        let chat = chat(keyset, for: request)
        let channel = request.segment(4) ?? ""
        let body = try ObjectBody(request.body, limits)
        let setting = try body.memberships("set", of: "uuid")
        let removing = try body.memberships("delete", of: "uuid")
        let page = try await page(
            of: keyset.fields(
                WireNames.moderated(on: channel) == nil ? .wireMembers : .wireRestrictedUsers, prefix: "user:",
                to: request),
            for: request, afterChanging: setting + removing, chat)
        try Names.check(channel: channel)
        for (user, _) in setting + removing { try Names.check(user: user) }
        try requireModerator(for: [channel], request, keyset)
        let actor = try request.user()
        try await Self.set(setting.map { ($0.id, $0.edit) }, in: channel, by: actor, chat)
        try await Self.remove(removing.map(\.id), from: channel, by: actor, chat)
        return try await members(of: channel, page, request, keyset)
    }

    private func members(
        of channel: String, _ page: ObjectPage, _ request: WireRequest, _ keyset: Keyset
    ) async throws -> Response {
        if let moderated = WireNames.moderated(on: channel) {
            return try await restrictions(in: moderated, request, keyset)
        }
        let chat = chat(keyset, for: request)
        let include = ObjectInclude(request, other: "uuid")
        let members = try await listing { () async throws(ChatError) in
            try await chat.members(
                of: channel, page.list(keyset.fields(.wireMembers, prefix: "user:", to: request)))
        }
        let names = members.items.map(\.user)
        let users = include.other == nil ? [] : try await chat.users(named: names)
        let known = Self.table(names, users)
        return .structured { writer in
            page.print(members, to: &writer) { membership, writer in
                membership.print(include.own, "uuid", to: &writer) { writer in
                    if let fields = include.other, let user = known[ExactText(membership.user)] {
                        keyset.visible(user, to: request).print(fields, to: &writer)
                    } else {
                        writer.bareID(membership.user)
                    }
                }
            }
        }
    }

    // MARK: Changing

    /// Checks a request before anything is written, so that a rejected request has changed nothing. Checks the changes,
    /// and the filter and sort order of the page for the response.
    ///
    /// - Parameters:
    ///   - fields: the fields that the filter and the sort order may use.
    ///   - edits: the changes of memberships that the request contains.
    /// - Returns: the page for the response.
    private func page(
        of fields: RecordFields, for request: WireRequest, afterChanging edits: [(id: String, edit: MembershipEdit)],
        _ chat: ChatAccess
    ) async throws -> ObjectPage {
        guard edits.count <= Self.changesMost else {
            throw WireError.invalidInput([
                .init(message: "At most \(Self.changesMost) entries.", location: "set", kind: "body")
            ])
        }
        let page = try ObjectPage(request)
        try await listing { () async throws(ChatError) in try chat.check(page.list(fields)) }
        for (_, edit) in edits { try edit.check(limits) }
        return page
    }

    /// Sets members of a channel. Creates a record of the channel if there is none, because memberships require a
    /// record.
    private static func set(
        _ members: [(user: String, edit: MembershipEdit)], in channel: String, by actor: String?, _ chat: ChatAccess
    ) async throws(ChatError) {
        guard !members.isEmpty else { return }
        if let moderated = WireNames.moderated(on: channel) {
            for (user, edit) in members { try await restrict(user, in: moderated, edit, by: actor, chat) }
            return
        }
        do throws(ChatError) {
            return try await chat.change(membersOf: channel, setting: members, removing: [], by: actor)
        } catch {
            guard error.code == .notFound else { throw error }
        }
        do throws(ChatError) {
            _ = try await make(channel: channel, ChannelEdit(), chat)
        } catch {
            guard error.code == .conflict else { throw error }
        }
        try await chat.change(membersOf: channel, setting: members, removing: [], by: actor)
    }

    private static func remove(
        _ users: [String], from channel: String, by actor: String?, _ chat: ChatAccess
    ) async throws(ChatError) {
        guard !users.isEmpty else { return }
        if let moderated = WireNames.moderated(on: channel) {
            for user in users { try await lift(user, in: moderated, by: actor, chat) }
            return
        }
        do throws(ChatError) {
            try await chat.change(membersOf: channel, setting: [], removing: users, by: actor)
        } catch {
            // The channel has no record, so it has no members to remove.
            guard error.code == .notFound else { throw error }
        }
    }

    static func table<Value>(_ names: [String], _ values: [Value?]) -> [ExactText: Value] {
        var table: [ExactText: Value] = [:]
        for (name, value) in zip(names, values) { table[ExactText(name)] = value }
        return table
    }
}
