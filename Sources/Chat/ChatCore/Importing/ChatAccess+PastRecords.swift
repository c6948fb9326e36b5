public import ChatModel

/// A record to import from another system.
public enum ImportRecord: Sendable {
    case user(String, UserEdit)
    case channel(String, ChannelKind, ChannelEdit)
    /// A membership. If the channel has no record, a record of the kind `public` is created.
    case membership(user: String, channel: String, MembershipEdit)
    /// Channels to add to a channel group. The channels that the group already has stay in it.
    case group(String, [String])
    case restriction(user: String, channel: String, RestrictionRequest)
}

extension ChatAccess {
    /// Imports a record. No event announces the record to streams or webhooks. A stream that is already open does not
    /// use imported memberships of its user; the user's next stream uses them.
    ///
    /// - Parameter isReplacing: true to update an existing record; false to leave it unchanged.
    /// - Throws: `.forbidden` without the scope `manage`, and for a user's credential; the errors of the operation that
    ///   normally writes such a record.
    public func move(_ record: ImportRecord, isReplacing: Bool) async throws(ChatError) -> ImportResult {
        try caller.require(.manage)
        try caller.demandNoUser()
        var chat = self
        chat.isQuiet = true
        let precondition: RecordChange.Precondition = isReplacing ? .none : .absent
        do throws(ChatError) {
            switch record {
            case .user(let id, let edit):
                return ImportResult(isNew: try await chat.put(user: id, edit, precondition: precondition).isNew)
            case .channel(let id, let kind, let edit):
                return ImportResult(
                    isNew: try await chat.put(channel: id, kind: kind, edit, precondition: precondition).isNew)
            case .membership(let user, let channel, let edit):
                return try await chat.moveMember(user, channel, edit, isReplacing: isReplacing)
            case .group(let id, let channels):
                return ImportResult(
                    isNew: try await chat.write(group: id, .change(adding: channels, removing: [])).isNew)
            case .restriction(let user, let channel, let restrictionRequest):
                return try await chat.moveRestriction(user, channel, restrictionRequest, isReplacing: isReplacing)
            }
        } catch {
            // The record already exists and stays unchanged.
            guard error.code == .conflict, error.current != nil, !isReplacing else { throw error }
            return ImportResult(isNew: false)
        }
    }

    private func moveMember(
        _ user: String, _ channel: String, _ edit: MembershipEdit, isReplacing: Bool
    ) async throws(ChatError) -> ImportResult {
        let key = MembershipRecord.key(user, channel, in: app)
        if !isReplacing, try await directory.read(key) != nil { return ImportResult(isNew: false) }
        do throws(ChatError) {
            return ImportResult(isNew: try await importMembership(user, channel, edit))
        } catch {
            guard error.code == .notFound else { throw error }
        }
        _ = try await put(channel: channel, kind: .public, ChannelEdit())
        return ImportResult(isNew: try await importMembership(user, channel, edit))
    }

    /// Imports a membership. The channel must already have a record.
    ///
    /// - Returns: true when the user was neither a member nor invited before.
    /// - Throws: `.notFound` when the channel has no record; the errors of the store.
    private func importMembership(
        _ user: String, _ channel: String, _ edit: MembershipEdit
    ) async throws(ChatError) -> Bool {
        try edit.check(limits)
        var edit = edit
        edit.read = edit.read.map { min($0, service.clock.now) }
        return try await changeMember(user, of: channel, by: nil) { [edit] change throws(ChatError) in
            try change.requireJoining(user)
            try change.set(user, edit)
            try change.checkOperators()
        }.isNew
    }

    private func moveRestriction(
        _ user: String, _ channel: String, _ restrictionRequest: RestrictionRequest, isReplacing: Bool
    ) async throws(ChatError) -> ImportResult {
        let key = RestrictionRecord.key(user, channel, in: app)
        if !isReplacing, try await directory.read(key) != nil { return ImportResult(isNew: false) }
        return ImportResult(isNew: try await restrict(user, in: channel, restrictionRequest).isNew)
    }
}
