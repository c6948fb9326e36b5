import ChatCore
import ChatModel

/// The permissions that a call requires in an app that requires tokens.
struct AccessRule: Sendable {
    struct RequiredPermission: Sendable {
        let kind: ResourceKind
        let names: [String]
        let permission: Permission
    }

    /// The index of the path segment that contains the subscribe key.
    let keyAt: Int
    /// True when the call requires a valid signature, even if the request has a token.
    var isSigned = false
    /// The index of the path segment that names the acting user; nil when only the query can name a user. A token that
    /// is bound to a user authorizes only requests that name that user.
    var actorAt: Int?
    let needs: @Sendable (WireRequest) throws -> [RequiredPermission]

    /// Requires any valid token of the app. The response contains only the resources that the token grants (`mayRead`).
    static func everyone(key: Int) -> AccessRule { AccessRule(keyAt: key) { _ in [] } }

    static func signed(key: Int) -> AccessRule {
        var rule = everyone(key: key)
        rule.isSigned = true
        return rule
    }

    /// Requires the permission for the channels in a path segment, and `read` for the groups in the query.
    static func channels(_ permission: Permission, at segment: Int, key: Int) -> AccessRule {
        AccessRule(keyAt: key) { request in
            [
                RequiredPermission(kind: .channel, names: try request.names(segment), permission: permission),
                RequiredPermission(kind: .group, names: request.list("channel-group"), permission: .read),
            ]
        }
    }

    /// Requires the same permissions as ``channels(_:at:key:)``, for a call whose acting user is named by the path
    /// segment `actor`.
    static func channels(_ permission: Permission, at segment: Int, by actor: Int, key: Int) -> AccessRule {
        var rule = channels(permission, at: segment, key: key)
        rule.actorAt = actor
        return rule
    }

    static func user(_ permission: Permission, at segment: Int, key: Int) -> AccessRule {
        AccessRule(keyAt: key) { request in
            [RequiredPermission(kind: .user, names: [request.segment(segment) ?? ""], permission: permission)]
        }
    }

    /// Requires `read` for the group in the path, or `manage` when the call changes the group.
    static let group = AccessRule(keyAt: 3) { request in
        let isChange = request["add"] != nil || request["remove"] != nil || request.segment(6) == "remove"
        return [
            RequiredPermission(kind: .group, names: [request.segment(5) ?? ""], permission: isChange ? .manage : .read)
        ]
    }

    /// Requires `update` for the user, `join` for the channels, and `manage` for the channels with moderation names.
    static func memberships(_ limits: Limits) -> AccessRule {
        AccessRule(keyAt: 2) { request in
            let body = try ObjectBody(request.body, limits)
            let channels =
                try body.memberships("set", of: "channel") + body.memberships("delete", of: "channel")
            let moderation = channels.map(\.id).filter { WireNames.moderated(on: $0) != nil }
            let joined = channels.map(\.id).filter { WireNames.moderated(on: $0) == nil }
            return [
                RequiredPermission(kind: .user, names: [request.segment(4) ?? ""], permission: .update),
                RequiredPermission(kind: .channel, names: joined, permission: .join),
                RequiredPermission(kind: .channel, names: moderation, permission: .manage),
            ]
        }
    }
}

extension AccessToken {
    /// The requirements that the token does not meet, each with the names of the resources that lack the permission;
    /// empty when the token meets all requirements.
    func missing(_ needs: [AccessRule.RequiredPermission]) -> [AccessRule.RequiredPermission] {
        needs.compactMap { need in
            let missing = need.names.filter { name in
                !allows(need.permission, need.kind, name) && !allowsPresence(need, name) && !allowsThread(need, name)
            }
            return missing.isEmpty ? nil : .init(kind: need.kind, names: missing, permission: need.permission)
        }
    }

    /// Returns true when the resource is a thread's channel and the token grants the permission on the parent channel.
    private func allowsThread(_ need: AccessRule.RequiredPermission, _ name: String) -> Bool {
        guard need.kind == .channel, let thread = MappedThread(name.withoutPresence) else { return false }
        return allows(need.permission, .channel, thread.parent)
    }

    /// Returns true when the resource is the presence channel of a channel or group on which the token grants `read`.
    private func allowsPresence(_ need: AccessRule.RequiredPermission, _ name: String) -> Bool {
        need.permission == .read && name.hasSuffix(String.presenceSuffix)
            && allows(.read, need.kind, name.withoutPresence)
    }
}
