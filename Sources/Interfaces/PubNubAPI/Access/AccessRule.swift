import ChatCore
import ChatModel

/// What a call needs of a token where its app demands one (`pubnub-wire.md` 17.5).
struct AccessRule: Sendable {
    struct RequiredPermission: Sendable {
        let kind: ResourceKind
        let names: [String]
        let permission: Permission
    }

    /// The segment of the path that holds the subscribe key.
    let keyAt: Int
    /// A right signature is the only way in.
    var isSigned = false
    /// The segment that names who acts, where it is not the query alone: a token of a user's lets in nobody else.
    var actorAt: Int?
    let needs: @Sendable (WireRequest) throws -> [RequiredPermission]

    /// Whatever token the app has given; what is shown is as much as it grants (`mayRead`).
    static func anybody(key: Int) -> AccessRule { AccessRule(keyAt: key) { _ in [] } }

    static func signed(key: Int) -> AccessRule {
        var rule = anybody(key: key)
        rule.isSigned = true
        return rule
    }

    /// The channels of a segment, and the groups that the query names beside them.
    static func channels(_ permission: Permission, at segment: Int, key: Int) -> AccessRule {
        AccessRule(keyAt: key) { request in
            [
                RequiredPermission(kind: .channel, names: try request.names(segment), permission: permission),
                RequiredPermission(kind: .group, names: request.list("channel-group"), permission: .read),
            ]
        }
    }

    /// The same for what the user does whom another segment names.
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

    /// Groups are read, or changed by what stands in the query.
    static let group = AccessRule(keyAt: 3) { request in
        let isChange = request["add"] != nil || request["remove"] != nil || request.segment(6) == "remove"
        return [
            RequiredPermission(kind: .group, names: [request.segment(5) ?? ""], permission: isChange ? .manage : .read)
        ]
    }

    /// A user's memberships are the user's, and the channels' to join; whoever moderates may restrict.
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
    /// What is needed and not granted, by kind; empty when all is.
    func missing(_ needs: [AccessRule.RequiredPermission]) -> [AccessRule.RequiredPermission] {
        needs.compactMap { need in
            let missing = need.names.filter { name in
                !allows(need.permission, need.kind, name) && !allowsPresence(need, name) && !allowsThread(need, name)
            }
            return missing.isEmpty ? nil : .init(kind: need.kind, names: missing, permission: need.permission)
        }
    }

    /// What is granted on a channel holds in the threads of its messages.
    private func allowsThread(_ need: AccessRule.RequiredPermission, _ name: String) -> Bool {
        guard need.kind == .channel, let thread = MappedThread(name.withoutPresence) else { return false }
        return allows(need.permission, .channel, thread.parent)
    }

    /// Who may read a channel or a group may follow who is there.
    private func allowsPresence(_ need: AccessRule.RequiredPermission, _ name: String) -> Bool {
        need.permission == .read && name.hasSuffix(String.presenceSuffix)
            && allows(.read, need.kind, name.withoutPresence)
    }
}
