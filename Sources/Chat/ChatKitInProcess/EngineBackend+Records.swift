import ChatCore
public import ChatKit
public import ChatModel

extension EngineBackend {
    public func user(_ id: String) async throws(ChatError) -> UserRecord? { try await access.user(id) }

    public func users(_ list: ChatKit.RecordList) async throws(ChatError) -> Page<UserRecord> {
        try await access.users(ChatCore.RecordList(list))
    }

    public func create(user id: String, _ fields: UserFields) async throws(ChatError) -> UserRecord {
        try await access.put(user: id, UserEdit(fields), precondition: .absent, by: user).record
    }

    public func update(
        user id: String, _ fields: UserFields, eTag: String?
    ) async throws(ChatError) -> UserRecord {
        try await access.update(user: id, UserEdit(fields), precondition: .version(eTag), by: user)
    }

    public func delete(user id: String) async throws(ChatError) { try await access.delete(user: id, by: user) }
}

// MARK: - Channels

extension EngineBackend {
    public func channel(_ id: String) async throws(ChatError) -> ChannelState? {
        try await access.channelView(id).map { ChannelState($0) }
    }

    public func channels(_ list: ChatKit.RecordList) async throws(ChatError) -> Page<ChannelState> {
        let page = try await access.channels(ChatCore.RecordList(list))
        return Page(items: page.items.map { ChannelState($0) }, hasMore: page.hasMore, cursor: page.cursor)
    }

    public func create(
        channel id: String?, kind: ChannelKind, _ fields: ChannelFields, users: [String], isDistinct: Bool
    ) async throws(ChatError) -> ChannelState {
        var new = NewChannel(kind: kind, id: id)
        new.edit = ChannelEdit(fields)
        new.users = users
        new.isDistinct = isDistinct
        return ChannelState(try await access.make(new, by: user).record)
    }

    public func update(
        channel id: String, _ fields: ChannelFields, eTag: String?
    ) async throws(ChatError) -> ChannelState {
        ChannelState(try await access.update(channel: id, ChannelEdit(fields), precondition: .version(eTag), by: user))
    }

    public func delete(channel id: String) async throws(ChatError) {
        try await access.delete(channel: id, by: user)
    }

}

// MARK: - Memberships

extension EngineBackend {
    public func join(_ channel: String, _ fields: MembershipFields) async throws(ChatError) -> MembershipRecord {
        // Omitted fields are cleared, as by `PUT` on the membership in the REST API.
        var edit = MembershipEdit(fields)
        if case .keep = edit.type { edit.type = .clear }
        if case .keep = edit.status { edit.status = .clear }
        if case .keep = edit.custom { edit.custom = .clear }
        if case .keep = edit.push { edit.push = .clear }
        return try await access.join(user, to: channel, edit, by: user).record
    }

    public func leave(_ channel: String) async throws(ChatError) {
        try await access.leave(user, from: channel, by: user)
    }

    public func remove(member: String, from channel: String, reason: String?) async throws(ChatError) {
        try await access.leave(member, from: channel, reason: reason, by: user)
    }

    public func hide(_ channel: String, hidesHistory: Bool, endsWithMessage: Bool) async throws(ChatError) {
        _ = try await access.hide(
            channel, for: user, hidesHistory: hidesHistory, endsWithMessage: endsWithMessage, by: user)
    }

    public func unhide(_ channel: String) async throws(ChatError) {
        _ = try await access.unhide(channel, for: user, by: user)
    }

    public func invite(_ users: [String], to channel: String) async throws(ChatError) -> [MembershipRecord] {
        try await access.invite(users, to: channel, by: user)
    }

    public func declineInvite(to channel: String) async throws(ChatError) {
        try await access.declineInvite(of: user, to: channel, by: user)
    }

    public func update(
        member: String, of channel: String, _ fields: MembershipFields, eTag: String?
    ) async throws(ChatError) -> MembershipRecord {
        try await access.update(memberOf: channel, member, MembershipEdit(fields), precondition: eTag, by: user)
    }

    public func member(_ user: String, of channel: String) async throws(ChatError) -> MembershipRecord? {
        try await access.member(user, of: channel)
    }

    public func members(
        of channel: String, _ list: ChatKit.RecordList
    ) async throws(ChatError) -> Page<MembershipRecord> {
        try await access.members(of: channel, ChatCore.RecordList(list))
    }

    public func memberships(
        of user: String, _ list: ChatKit.RecordList
    ) async throws(ChatError) -> Page<MembershipRecord> {
        try await access.memberships(of: user, ChatCore.RecordList(list))
    }
}

// MARK: - Queries

extension ChatCore.RecordList {
    fileprivate init(_ list: ChatKit.RecordList) {
        self.init(limit: list.limit)
        cursor = list.cursor
        filter = list.filter
        sort = list.sort
        order = list.order
        after = list.after
        before = list.before
    }
}

extension UserEdit {
    fileprivate init(_ fields: UserFields) {
        self.init()
        name = .given(fields.name)
        externalID = .given(fields.externalID)
        profileURL = .given(fields.profileURL)
        email = .given(fields.email)
        custom = .given(fields.custom?.text)
        status = .given(fields.status)
        type = .given(fields.type)
    }
}

extension ChannelEdit {
    fileprivate init(_ fields: ChannelFields) {
        self.init()
        name = .given(fields.name)
        description = .given(fields.description)
        customType = .given(fields.customType)
        type = .given(fields.type)
        coverURL = .given(fields.coverURL)
        status = .given(fields.status)
        data = .given(fields.data?.text)
        custom = .given(fields.custom?.text)
    }
}

extension MembershipEdit {
    fileprivate init(_ fields: MembershipFields) {
        self.init()
        type = .given(fields.type)
        status = .given(fields.status)
        custom = .given(fields.custom?.text)
        push = .given(fields.push)
    }
}

extension RecordChange.Precondition {
    fileprivate static func version(_ eTag: String?) -> Self { eTag.map { .etag($0) } ?? .none }
}

extension FieldEdit {
    /// Returns an edit that sets a value. A nil value does not change the field.
    static func given(_ value: Value?) -> FieldEdit { value.map { .set($0) } ?? .keep }
}

extension ChannelState {
    fileprivate init(_ view: ChannelView) {
        let hasMembers = view.channel.kind.hasMembers
        self.init(
            view.channel, memberCount: hasMembers ? view.counts.all : nil,
            joinedMemberCount: hasMembers ? view.counts.joined : nil)
    }
}
