public import ChatModel
import JSON

extension ChatAccess {
    /// Returns the record of a user, with the fields that the caller may see; nil when there is none. A user needs no
    /// record.
    ///
    /// - Throws: `.forbidden` without the scope `read`; `.malformed` for a bad name.
    public func user(_ id: String) async throws(ChatError) -> UserRecord? {
        try caller.require(.read)
        try Names.check(user: id)
        return try await directory.read(UserRecord.key(id, in: app)).flatMap(UserRecord.init).map(seen)
    }

    /// Creates the record of a user, or replaces all its fields. Allowed for the user and for programs of the app.
    ///
    /// - Throws: the errors of `RecordChange.Precondition.check`; `.forbidden` for another user; `.malformed` or
    ///   `.tooLarge` for an invalid field.
    public func put(
        user id: String, _ edit: UserEdit, precondition: RecordChange.Precondition = .none, by named: String? = nil
    ) async throws(ChatError) -> Written<UserRecord> {
        try await write(user: id, edit, precondition, by: named) { before, now in
            var user = UserRecord(id: id)
            user.created = before?.created ?? now
            // JSON that differs only in white space is not changed.
            if !edit.custom.isKept { user.custom = before?.custom }
            return user
        }
    }

    /// Changes fields of a user's record.
    ///
    /// - Throws: `.notFound` when the user has no record; `.stale` when `precondition` names another version.
    public func update(
        user id: String, _ edit: UserEdit, precondition: RecordChange.Precondition = .none, by named: String? = nil
    ) async throws(ChatError) -> UserRecord {
        try await write(user: id, edit, precondition, by: named) { before, _ throws(ChatError) in
            guard let before else {
                throw ChatError(.notFound, "user '\(id)' has no record; create one with PUT /v1/users/{user}")
            }
            return before
        }.record
    }

    /// Deletes the record of a user. The user's memberships and events are not deleted. They contain only the user's
    /// id, not the record.
    ///
    /// - Parameter revokesTokens: true to revoke all tokens of the user, if there is a record. Requires a key for all
    ///   channels.
    /// - Returns: true when there was a record.
    /// - Throws: `.stale` when `precondition` names a version that the record does not have, or when there is no
    ///   record.
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

    /// Writes a user's record, and announces the change.
    ///
    /// - Parameter base: returns the record to which the edit is applied, from the stored record (nil when there is
    ///   none) and the current time.
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

    /// The maximum number of a user's channels on which PubNub clients receive changes of the user's record.
    private static var echoesMost: Int { 1000 }

    /// Returns the channels of which the user is a member, at most `echoesMost`; empty for an import.
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

    /// Creates an event about a user record. The event contains only public fields, for three reasons: all subscribers
    /// of the channel receive the same event; their filters read the event; and the event stays stored if the app later
    /// makes a field private. Callers with access to other fields can read the record.
    ///
    /// PubNub clients receive all fields, as they do from PubNub, unless the app requires tokens.
    ///
    /// - Parameter more: prints further members of the event's data. Its first argument is the set of the fields to
    ///   show.
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
