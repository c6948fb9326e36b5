import ChatCore
import ChatModel

/// The permissions that a call requires in an app that requires tokens.
struct AccessRule: Sendable {
    struct RequiredPermission: Sendable {
        let kind: ResourceKind
        let names: [String]
        let permission: Permission
    }

    /// The segment of the path that holds the subscribe key.
    let keyAt: Int
    /// True when the call requires a valid signature, whatever token it has.
    var isSigned = false
    /// The path segment that names the acting user, in addition to the query. A token that is bound to a user must name
    /// that user.
    var actorAt: Int?
    let needs: @Sendable (WireRequest) throws -> [RequiredPermission]

    /// Requires any valid token of the app. The response shows only what the token grants (`mayRead`).
    static func everyone(key: Int) -> AccessRule { AccessRule(keyAt: key) { _ in [] } }

    static func signed(key: Int) -> AccessRule {
        var rule = everyone(key: key)
        rule.isSigned = true
        return rule
    }

    /// Requires the permission for the channels in a segment, and `read` for the groups in the query.
    static func channels(_ permission: Permission, at segment: Int, key: Int) -> AccessRule {
        AccessRule(keyAt: key) { request in
            [
                RequiredPermission(kind: .channel, names: try request.names(segment), permission: permission),
                RequiredPermission(kind: .group, names: request.list("channel-group"), permission: .read),
            ]
        }
    }

    /// As above, for a call whose acting user another segment names.
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

    /// Requires `read` for a group, or `manage` when the call changes it.
    static let group = AccessRule(keyAt: 3) { request in
        let isChange = request["add"] != nil || request["remove"] != nil || request.segment(6) == "remove"
        return [
            RequiredPermission(kind: .group, names: [request.segment(5) ?? ""], permission: isChange ? .manage : .read)
        ]
    }

    /// Requires `update` for the user, `join` for the channels, and `manage` for the moderation channels.
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
    /// The permissions that the token does not grant, by kind; empty when it grants all of them.
    func missing(_ needs: [AccessRule.RequiredPermission]) -> [AccessRule.RequiredPermission] {
        needs.compactMap { need in
            let missing = need.names.filter { name in
                !allows(need.permission, need.kind, name) && !allowsPresence(need, name) && !allowsThread(need, name)
            }
            return missing.isEmpty ? nil : .init(kind: need.kind, names: missing, permission: need.permission)
        }
    }

    /// A permission on a channel also holds in the threads of its messages.
    private func allowsThread(_ need: AccessRule.RequiredPermission, _ name: String) -> Bool {
        guard need.kind == .channel, let thread = MappedThread(name.withoutPresence) else { return false }
        return allows(need.permission, .channel, thread.parent)
    }

    /// `read` on a channel or a group also grants its presence events.
    private func allowsPresence(_ need: AccessRule.RequiredPermission, _ name: String) -> Bool {
        need.permission == .read && name.hasSuffix(String.presenceSuffix)
            && allows(.read, need.kind, name.withoutPresence)
    }
}
