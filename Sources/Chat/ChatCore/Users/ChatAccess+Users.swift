public import ChatModel
import JSON

extension ChatAccess {
    /// A user's record as the caller may see it; nil when there is none. Records are optional.
    ///
    /// - Throws: `.forbidden` without `read`; `.malformed` for a bad name.
    public func user(_ id: String) async throws(ChatError) -> UserRecord? {
        try caller.require(.read)
        try Names.check(user: id)
        return try await directory.read(UserRecord.key(id, in: app)).flatMap(UserRecord.init).map(seen)
    }

    /// Creates a user's record, or replaces all of it. Allowed for the user and for programs of the app.
    ///
    /// - Throws: as `RecordChange.Precondition.check`.
    public func put(
        user id: String, _ edit: UserEdit, precondition: RecordChange.Precondition = .none, by named: String? = nil
    ) async throws(ChatError) -> Written<UserRecord> {
        try await write(user: id, edit, precondition, by: named) { before, now in
            var user = UserRecord(id: id)
            user.created = before?.created ?? now
            // The present bytes stay if only white space differs.
            if !edit.custom.isKept { user.custom = before?.custom }
            return user
        }
    }

    /// Changes fields of a user's record.
    ///
    /// - Throws: `.notFound` when there is none; `.stale` when `precondition` names another version.
    public func update(
        user id: String, _ edit: UserEdit, precondition: RecordChange.Precondition = .none, by named: String? = nil
    ) async throws(ChatError) -> UserRecord {
        try await write(user: id, edit, precondition, by: named) { before, _ throws(ChatError) in
            guard let before else {
                throw ChatError(.notFound, "user '\(id)' has no record; make one with PUT /v1/users/{user}")
            }
            return before
        }.record
    }

    /// Deletes a user's record. Memberships and events stay, because they refer to users by id.
    ///
    /// - Parameter revokesTokens: revokes every token of the user, if there is a record. Not allowed for restricted
    ///   keys.
    /// - Returns: true when there was a record.
    /// - Throws: `.stale` when `precondition` names a version and the record has another or does not exist.
    @discardableResult public func delete(
        user id: String, precondition: RecordChange.Precondition = .none, by named: String? = nil,
        revokesTokens: Bool = false
    ) async throws(ChatError) -> Bool {
        if revokesTokens { try caller.demandEveryChannel() }
        let actor = try owner(of: id, by: named)
        let key = UserRecord.key(id, in: app)
        let revocationKey = UserRevocation.key(UserID(id, in: app))
        let echoes = try await channels(ofMember: id)
        let wasThere = try await decide(revokesTokens ? [key, revocationKey] : [key]) { snapshot throws(ChatError) in
            try precondition.check(snapshot[key]?.etag)
            guard let user = snapshot[key].flatMap(UserRecord.init) else { return Decision(false) }
            let revocations =
                revokesTokens ? [revocation(of: id, before: snapshot.now, in: snapshot).change] : []
            var event = recordEvent("user.deleted", of: user, by: actor.user) { _, writer in
                writer.member("deleted_at", snapshot.next.timestamp)
            }
            event.echoes = echoes
            return Decision(true, changes: [RecordChange(key, body: nil)] + revocations, events: [event])
        }.value
        if revokesTokens, wasThere { try await service.revokedTokens.refresh(revocationKey) }
        return wasThere
    }

    /// - Parameter base: the record that the edit applies to, made from the stored record and the time.
    private func write(
        user id: String, _ edit: UserEdit, _ precondition: RecordChange.Precondition, by named: String?,
        _ base: @escaping @Sendable (UserRecord?, Timetoken) throws(ChatError) -> UserRecord
    ) async throws(ChatError) -> Written<UserRecord> {
        try edit.check(limits)
        let actor = try owner(of: id, by: named)
        let key = UserRecord.key(id, in: app)
        let echoes = try await channels(ofMember: id)
        let decided = try await decide([key]) { snapshot throws(ChatError) in
            let before = snapshot[key].flatMap(UserRecord.init)
            var user = try base(before, snapshot.now)
            try precondition.check(before?.etag, current: snapshot[key])
            edit.apply(to: &user)
            try limits.check(value: user.custom, "custom")
            try UserEdit.check(metadata: user.metadata, limits)
            let change = RecordChange(key, body: user.body)
            guard user.body != before?.body else {
                return Decision(Written(record: user, isNew: false), changes: [change])
            }
            (user.etag, user.updated) = (snapshot.etag, snapshot.next)
            var event = written(user, before, by: actor.user)
            event.echoes = echoes
            return Decision(Written(record: user, isNew: before == nil), changes: [change], events: [event])
        }
        let stored = decided.record(key).flatMap(UserRecord.init) ?? decided.value.record
        return Written(record: stored, isNew: decided.value.isNew)
    }

    /// The maximum number of a user's channels that receive changes of the user's record on another service's protocol.
    private static var echoesMost: Int { 1000 }

    /// The channels of which the user is a member.
    private func channels(ofMember user: String) async throws(ChatError) -> [String] {
        guard !isQuiet else { return [] }
        var query = RecordQuery(.membership, in: app, limit: Self.echoesMost)
        query.idPrefix = MembershipRecord.prefix(of: user)
        return try await directory.list(query).items.compactMap { MembershipRecord($0) }
            .filter { !service.pendingDeletions.hide($0, in: app) }.map(\.channel)
    }

    private func written(_ user: UserRecord, _ before: UserRecord?, by actor: String?) -> EventDraft {
        recordEvent(before == nil ? "user.created" : "user.updated", of: user, by: actor) { fields, writer in
            guard let before else { return }
            RecordDifference(from: fields.visible(before).body, to: fields.visible(user).body).print(to: &writer)
        }
    }

    /// An event of a user record. It contains public fields only, for every reader: followers of the channel share the
    /// event, filters read it, and it stays when the app makes a field private. Callers who may see other fields read
    /// the record.
    ///
    /// PubNub's readers receive every field, as from PubNub, unless the app requires tokens of them.
    /// - Parameter more: prints the members beside the user, for the fields to show.
    private func recordEvent(
        _ type: String, of user: UserRecord, by actor: String?,
        _ more: (PublicUserFields, inout JSONWriter) -> Void
    ) -> EventDraft {
        let app = service.keyring.app(app)
        func showing(_ fields: PublicUserFields) -> EventDraft {
            draft(type, on: user.id, by: actor) { writer in
                writer.key("user")
                user.show(fields, to: &writer)
                more(fields, &writer)
            }
        }
        var event = showing(app?.publicUserFields ?? .standard)
        guard app?.requiresTokens == false else { return event }
        let whole = showing(.all).data
        if whole != event.data { event.wire = whole }
        return event
    }
}
