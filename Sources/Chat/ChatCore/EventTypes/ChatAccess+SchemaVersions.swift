public import ChatModel
import JSON

extension ChatAccess {
    private var types: EventTypes { service.eventTypes }

    /// Returns the versions of a type's schema, oldest first unless requested otherwise.
    ///
    /// - Throws: `.forbidden` when the caller may not read the type; `.notFound` when no type has this name;
    ///   `.malformed` for an invalid cursor.
    public func versions(
        of name: String, _ list: RecordList
    ) async throws(ChatError) -> Page<SchemaVersion> {
        try requireReading(name)
        if let builtIn = BuiltInCatalogue.named(name) { return Page(items: [SchemaVersion(builtIn)]) }
        _ = try await newestType(name)
        var query = RecordQuery(.schemaVersion, in: app, limit: list.limit)
        query.parent = name
        query.sort = [(.field("number"), true)]
        return try await list.page(of: query, in: types.directory, limits: limits, created: \.created) { records in
            records.map { SchemaVersion($0) }
        }
    }

    /// Returns one version of a type's schema. The versions of a removed type stay readable, because events refer to
    /// them.
    ///
    /// - Throws: `.forbidden` when the caller may not read the type; `.notFound` when the type or the version does not
    ///   exist.
    public func version(_ number: Int, of name: String) async throws(ChatError) -> SchemaVersion {
        try requireReading(name)
        if let builtIn = BuiltInCatalogue.named(name) {
            guard number == 1 else { throw EventTypes.unknownVersion }
            return SchemaVersion(builtIn)
        }
        guard let version = try await types.version(number, of: name, in: app) else {
            throw EventTypes.unknownVersion
        }
        return version
    }

    /// Makes a schema the newest version of a type. When this method returns, emits on this node are checked against
    /// the new version. On other nodes, this happens within a second.
    ///
    /// - Parameter isTrial: true to make all checks and change nothing. The returned version is the one that would be
    ///   added.
    /// - Returns: the version, and whether it is new. If the newest version already has exactly this schema, that
    ///   version is returned.
    /// - Throws: `.forbidden` without the scope `manage`; `.notFound` for a type that is not declared; `.tooLarge` for
    ///   a schema above the size limit; `.malformed` for text that is not JSON; `.invalid` with the slugs
    ///   `schema_invalid` and `example_invalid`; `.conflict` with the slug `incompatible_schema`. The faults of this
    ///   error are the breaking changes, and its members contain a `witness` when there is one.
    public func addVersion(
        _ proposal: SchemaProposal, to name: String, isTrial: Bool = false
    ) async throws(ChatError) -> (version: SchemaVersion, isNew: Bool) {
        try requireManaging(name)
        return try await add(proposal, to: name, isTrial: isTrial)
    }

    /// Adds a version; see ``addVersion(_:to:isTrial:)``.
    ///
    /// - Parameter candidate: a candidate to remove in the same commit, if it still exists.
    func add(
        _ proposal: SchemaProposal, to name: String, ending candidate: Candidate? = nil, isTrial: Bool = false
    ) async throws(ChatError) -> (version: SchemaVersion, isNew: Bool) {
        if let reason = proposal.forced { try Self.check(reason: reason) }
        return try await types.settling(.none, in: app) { [types, app] () async throws(ChatError) in
            guard let old = try await types.stored(name, in: app) else { throw EventTypes.unknown }
            let proposed = try await types.proposing(proposal, for: old, from: old, in: app)
            guard !isTrial else { return try await resolved(proposed.version, of: old) }
            var records = proposed.change.records
            if let candidate { records += try await types.ending(candidate, of: name, in: app) }
            do throws(ChatError) {
                _ = try await types.write(records, proposed.change.prepared)
            } catch {
                // The type or the candidate was removed after it was read: try again.
                throw error.code == .notFound ? EventTypes.stale : error
            }
            return try await resolved(proposed.version, of: old)
        }
    }

    /// Returns the added version, with `isNew` true. When `proposed` is nil, the newest version already has the
    /// proposed schema, and is returned with `isNew` false.
    private func resolved(
        _ proposed: SchemaVersion?, of type: EventType
    ) async throws(ChatError) -> (version: SchemaVersion, isNew: Bool) {
        if let proposed { return (proposed, true) }
        guard let newest = try await types.version(type.latestVersion, of: type.name, in: app) else {
            throw EventTypes.unknownVersion
        }
        return (newest, false)
    }

    private static func check(reason: String) throws(ChatError) {
        guard (1...1000).contains(reason.utf8.count) else {
            throw ChatError(
                .malformed, "'force', the reason for an incompatible version, must be 1 to 1000 bytes long",
                field: "force")
        }
    }
}
