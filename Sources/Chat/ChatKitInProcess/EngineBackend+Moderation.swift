import ChatCore
import ChatKit
public import ChatModel

extension EngineBackend {
    public func restrict(
        _ user: String, in channel: String, ban: Bool, mute: Bool, reason: String?, until: Timetoken?
    ) async throws(ChatError) {
        guard ban || mute else {
            try await access.lift(restrictionOf: user, in: channel, by: self.user)
            return
        }
        let restrictionRequest = RestrictionRequest(isBan: ban, isMute: mute, reason: reason, until: until)
        _ = try await access.restrict(user, in: channel, restrictionRequest, by: self.user)
    }

    public func restriction(of user: String, in channel: String) async throws(ChatError) -> RestrictionRecord? {
        do throws(ChatError) {
            return try await access.restriction(of: user, in: channel)
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
    }

    public func restrictions(
        in channel: String, limit: Int, cursor: String?
    ) async throws(ChatError) -> Page<RestrictionRecord> {
        try await access.restrictions(in: channel, ChatCore.RecordList(limit: limit, cursor: cursor))
    }

    public func restrictions(
        of user: String, limit: Int, cursor: String?
    ) async throws(ChatError) -> Page<RestrictionRecord> {
        try await access.restrictions(of: user, ChatCore.RecordList(limit: limit, cursor: cursor))
    }

    public func freeze(_ channel: String, _ isFrozen: Bool) async throws(ChatError) {
        _ = try await access.freeze(channel, isFrozen, by: user)
    }

    public func appoint(_ user: String, in channel: String, _ role: MemberRole) async throws(ChatError) {
        _ = try await access.appoint(user, in: channel, role, by: self.user)
    }

    public func block(_ user: String) async throws(ChatError) {
        _ = try await access.block(user, for: self.user, by: self.user)
    }

    public func unblock(_ user: String) async throws(ChatError) {
        try await access.unblock(user, for: self.user, by: self.user)
    }

    public func blocks(limit: Int, cursor: String?) async throws(ChatError) -> Page<String> {
        let page = try await access.blocks(of: user, ChatCore.RecordList(limit: limit, cursor: cursor))
        return Page(items: page.items.map(\.blocked), hasMore: page.hasMore, cursor: page.cursor)
    }
}
