public import ChatModel

extension ChatAccess {
    private var types: EventTypes { service.eventTypes }

    /// Returns the event types that match the caller's type patterns, including the built-in types, ordered by name.
    ///
    /// - Throws: `.forbidden` when the caller has none of the scopes `read`, `emit` and `manage`.
    public func eventTypes() throws(ChatError) -> [EventType] {
        try requireReading()
        let all = BuiltInCatalogue.all.map { EventType($0) } + types.declared(in: app)
        return all.filter { caller.types.match($0.name) }.sorted { ExactText($0.name) < ExactText($1.name) }
    }

    /// Returns one event type.
    ///
    /// - Throws: `.forbidden` when the caller may not read the type; `.notFound` when no type has this name.
    public func eventType(_ name: String) throws(ChatError) -> EventType {
        try requireReading(name)
        return try types.type(name, in: app)
    }

    /// Returns one event type without checking rights, even if another node declared it a moment ago.
    ///
    /// - Throws: `.notFound` when no type has this name.
    func newestType(_ name: String) async throws(ChatError) -> EventType {
        try await service.confirmingRefusal { () throws(ChatError) in try types.type(name, in: app) }
    }

    /// Declares an event type, or replaces its settings. The change takes effect on this node before the call returns.
    ///
    /// A type that was removed and is declared again keeps its earlier versions.
    ///
    /// - Returns: the type, and whether it is new.
    /// - Throws: `.forbidden` without the scope `manage`, and for built-in types; `.malformed` for a bad name or
    ///   setting; `.invalid` when the app already has `Limits.typesPerApp` types; the errors of
    ///   `RecordChange.Precondition.check`.
    public func declare(
        _ name: String, _ settings: EventTypeSettings, precondition: RecordChange.Precondition = .none
    ) async throws(ChatError) -> (type: EventType, isNew: Bool) {
        try requireManaging(name)
        try Names.check(type: name)
        return try await types.settling(precondition, in: app) { [types, app] () async throws(ChatError) in
            let old = try await types.stored(name, in: app)
            try precondition.check(old?.etag)
            let type = try await types.declaring(name, settings, origin: .api, over: old, in: app)
            let change = try await types.change(type, from: old, in: app)
            let record = try await types.write(change.records, change.prepared)[0]
            return (EventType(record) ?? type, old == nil)
        }
    }

    /// Changes the settings of a declared type. The change takes effect on this node before the call returns.
    ///
    /// - Parameter edit: returns the new settings, from the current settings. Runs again when another request changed
    ///   the type in the meantime.
    /// - Throws: `.notFound` for a type that is not declared; the errors of `declare`.
    public func change(
        eventType name: String, precondition: RecordChange.Precondition = .none,
        _ edit: @escaping @Sendable (EventTypeSettings) throws(ChatError) -> EventTypeSettings
    ) async throws(ChatError) -> EventType {
        try requireManaging(name)
        return try await types.settling(precondition, in: app) { [types, app] () async throws(ChatError) in
            let old = try await types.stored(name, in: app)
            try precondition.check(old?.etag)
            guard let old else { throw EventTypes.unknown }
            let type = try await types.declaring(name, try edit(old.settings), origin: .api, over: old, in: app)
            let change = try await types.change(type, from: old, in: app)
            let record = try await types.write(change.records, change.prepared)[0]
            return EventType(record) ?? type
        }
    }

    /// Removes a declared type. Its events are no longer checked.
    ///
    /// A type without versions is removed immediately. A type with versions is removed only when the caller passes its
    /// `etag`, because stored events refer to these versions. The versions stay readable. If the type is declared
    /// again, version numbers continue after the last one.
    ///
    /// - Throws: `.forbidden` without the scope `manage`; `.notFound` for a type that is not declared; `.stale` when
    ///   the version of the type's record is not `etag`; `.conflict` with the slug `event_type_in_use` when the type
    ///   has versions and `etag` is nil.
    public func removeEventType(_ name: String, ifMatch etag: String? = nil) async throws(ChatError) {
        try requireManaging(name)
        try await types.settling(etag.map { .etag($0) } ?? .none, in: app) {
            [types, app] () async throws(ChatError) in
            guard let old = try await types.stored(name, in: app) else { throw EventTypes.unknown }
            if let etag, old.etag != etag { throw EventTypes.stale }
            guard etag != nil || old.latestVersion == 0 else {
                throw ChatError(
                    .conflict,
                    "stored events may refer to the \(old.latestVersion) versions of '\(name)'; to stop checking events, set "
                        + "the type's mode to off; to delete the type anyway, send DELETE with If-Match",
                    slug: "event_type_in_use")
            }
            _ = try await types.write([
                RecordChange(EventType.recordKey(name, in: app), body: nil, precondition: .etag(old.etag)),
                RecordChange(Candidate.recordKey(of: name, in: app), body: nil),
                RecordChange(CandidateCounts.recordKey(of: name, in: app), body: nil),
            ])
        }
    }

    /// Returns true when the app accepts only events of declared types.
    ///
    /// - Throws: `.forbidden` when the caller has none of the scopes `read`, `emit` and `manage`.
    func requiresDeclaredTypes() throws(ChatError) -> Bool {
        try requireReading()
        return service.keyring.requiresDeclaredTypes(app)
    }
}

extension ChatAccess {
    /// Checks that the caller may read schemas: the caller has one of the scopes `read`, `emit` and `manage`.
    ///
    /// - Parameter type: an event type that the caller's patterns must match; nil to check the scopes only.
    func requireReading(_ type: String? = nil) throws(ChatError) {
        guard [Scopes.read, .emit, .manage].contains(where: caller.scopes.allow) else {
            throw ChatError(.forbidden, "this credential lacks the scope 'read'")
        }
        if let type { try caller.require(type: type) }
    }

    func requireManaging(_ type: String) throws(ChatError) {
        try caller.require(.manage)
        try caller.require(type: type)
        guard !EventTypes.isBuiltIn(type) else { throw BuiltInTypes.refusal(of: type) }
    }
}
