import ChatCore
import ChatModel
import HTTPServer
import JSON

/// Restrictions (bans and mutes) in the form that the Chat SDKs use: as members of a moderation channel, whose name is
/// derived from the restricted channel.
///
/// The store has no records of these members. Writing such a member restricts the user, so that the restriction is
/// enforced. Reading the members lists every restriction, including restrictions from other APIs.
extension PubNubAPI {
    // MARK: Reading

    func restrictions(
        in channel: String, _ request: WireRequest, _ keyset: Keyset
    ) async throws -> Response {
        let chat = chat(keyset, for: request)
        let page = try ObjectPage(request)
        let include = ObjectInclude(request, other: "uuid")
        let restrictions = try await listing { () async throws(ChatError) in
            try await chat.restrictions(
                in: channel, page.list(keyset.fields(.wireRestrictedUsers, prefix: "user:", to: request)))
        }
        let names = restrictions.items.map(\.user)
        let users = include.other == nil ? [] : try await chat.users(named: names)
        let known = Self.table(names, users)
        return .structured { writer in
            page.print(restrictions, to: &writer) { restriction, writer in
                restriction.print(include.own, "uuid", to: &writer) { writer in
                    if let fields = include.other, let user = known[ExactText(restriction.user)] {
                        keyset.visible(user, to: request).print(fields, to: &writer)
                    } else {
                        writer.bareID(restriction.user)
                    }
                }
            }
        }
    }

    /// Returns a page of a user's restrictions, in the form of a list of memberships.
    ///
    /// - Parameter filter: the request's filter, as `restrictionFilter` returns it.
    func restrictions(
        of user: String, filter: String, _ request: WireRequest, _ chat: ChatAccess
    ) async throws -> Response {
        let page = try ObjectPage(request)
        let include = ObjectInclude(request, other: "channel")
        var list = page.list(.wireRestrictedChannels)
        list.filter = filter
        let restrictions = try await listing { [list] () async throws(ChatError) in
            try await chat.restrictions(of: user, list)
        }
        let names = restrictions.items.map { WireNames.moderationPrefix + $0.channel }
        let channels = include.other == nil ? [] : try await chat.channels(named: names)
        let known = Self.table(names, channels)
        return .structured { writer in
            page.print(restrictions, to: &writer) { restriction, writer in
                restriction.print(include.own, "channel", to: &writer) { writer in
                    let name = WireNames.moderationPrefix + restriction.channel
                    if let fields = include.other, let channel = known[ExactText(name)] {
                        channel.print(fields, to: &writer)
                    } else {
                        writer.bareID(name)
                    }
                }
            }
        }
    }

    /// The filter of a request for a user's memberships, with the names of restricted channels instead of the names of
    /// their moderation channels. Nil when the request is not for restrictions: it has no filter, or the filter names
    /// moderation channels only to exclude them.
    static func restrictionFilter(_ request: WireRequest) -> String? {
        guard let filter = request["filter"] else { return nil }
        let wanted = filter.replacing(
            /!\s*\(\s*channel\.id\s+LIKE\s+['"]PUBNUB_INTERNAL_MODERATION_\*['"]\s*\)/, with: "")
        guard wanted.contains(WireNames.moderationPrefix) else { return nil }
        return filter.replacing(WireNames.moderationPrefix, with: "")
    }

    // MARK: Writing

    /// Requires a signature with the secret key if a request sets restrictions in an app that does not require tokens.
    ///
    /// All clients of such an app have the publish and subscribe keys, so a banned user could otherwise remove the ban.
    /// Chat SDKs sign these requests.
    func requireModerator(for channels: [String], _ request: WireRequest, _ keyset: Keyset) throws(WireError) {
        guard !keyset.record.requiresTokens, channels.contains(where: { WireNames.moderated(on: $0) != nil }) else {
            return
        }
        try requireSignature(request, keyset)
    }

    /// Sets a user's restriction from the membership that a Chat SDK writes. A membership without a ban and without a
    /// mute removes the restriction. No event is emitted, because the SDK itself publishes the change.
    ///
    /// - Parameter moderator: the acting user; nil when the request names none.
    static func restrict(
        _ user: String, in channel: String, _ edit: MembershipEdit, by moderator: String?, _ chat: ChatAccess
    ) async throws(ChatError) {
        guard case .set(let custom) = edit.custom, let value = (try? JSONDocument(custom))?.root else {
            // Only `custom` is stored. A change of any other field leaves the restriction unchanged.
            if case .clear = edit.custom { try await lift(user, in: channel, by: moderator, chat) }
            return
        }
        let reason = value["reason"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        let restrictionRequest = RestrictionRequest(
            isBan: value["ban"]?.boolean ?? false, isMute: value["mute"]?.boolean ?? false, reason: reason)
        guard restrictionRequest.isBan || restrictionRequest.isMute else {
            return try await lift(user, in: channel, by: moderator, chat)
        }
        _ = try await chat.restrict(user, in: channel, restrictionRequest, by: moderator, announcingOnWire: false)
    }

    static func lift(
        _ user: String, in channel: String, by moderator: String?, _ chat: ChatAccess
    ) async throws(ChatError) {
        try await chat.lift(restrictionOf: user, in: channel, by: moderator, announcingOnWire: false)
    }
}

extension RecordFields {
    /// The fields of a channel's restrictions in the list of members, by their PubNub names.
    static let wireRestrictedUsers = RecordFields(
        names: [
            "uuid.id": "user", "uuid.name": "user:name", "uuid.updated": "user:@updated", "updated": "@updated",
            "custom.ban": "ban", "custom.mute": "mute", "custom.reason": "reason",
        ], objects: ["uuid.custom": "user:custom"], id: "uuid.id")
    /// The fields of a user's restrictions in the list of memberships, by their PubNub names.
    static let wireRestrictedChannels = RecordFields(
        names: [
            "channel.id": "channel", "channel.name": "channel:name", "updated": "@updated", "custom.ban": "ban",
            "custom.mute": "mute", "custom.reason": "reason",
        ], objects: ["channel.custom": "channel:custom"], id: "channel.id")
}
