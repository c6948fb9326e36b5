import ChatModel
import JSON
import JSONSchema
import Locking

extension EventTypes {
    /// The record changes that are committed to the directory of records together, and the schemas compiled for these
    /// records.
    struct Change: Sendable {
        var records: [RecordChange] = []
        var prepared = Prepared()
    }

    /// Runs `work` in the compile queue. If another node changes the same event type meanwhile, runs `work` again, at
    /// most eight times in total. If the caller has set a precondition, runs `work` only once.
    func settling<Result: Sendable>(
        _ precondition: RecordChange.Precondition, in app: AppID, _ work: @Sendable () async throws(ChatError) -> Result
    ) async throws(ChatError) -> Result {
        for _ in 0..<8 {
            do {
                return try await compileQueue.run(for: app, work)
            } catch {
                let isOvertaken = error.code == .stale || (error.code == .conflict && error.current != nil)
                guard isOvertaken, case .none = precondition else { throw error }
            }
        }
        throw ChatError(
            .conflict, "the event type is being changed by another request; try again", retryAfter: .seconds(1))
    }

    func stored(_ name: String, in app: AppID) async throws(ChatError) -> EventType? {
        try await directory.read(EventType.recordKey(name, in: app)).flatMap { EventType($0) }
    }

    /// Returns the type with new settings, or a new type when `old` is nil. Stores nothing. Must be called in the
    /// compile queue.
    ///
    /// - Parameter others: the number of further new types in the same commit, for the limit `Limits.typesPerApp`.
    func declaring(
        _ name: String, _ settings: EventTypeSettings, origin: EventType.Origin, over old: EventType?,
        others: Int = 0, in app: AppID
    ) async throws(ChatError) -> EventType {
        try settings.check()
        if var type = old {
            type.settings = settings
            type.origin = origin
            return type
        }
        let count = contents.withLock { $0[app]?.entries.count ?? 0 }
        guard count + others < limits.typesPerApp else {
            throw .over(
                .invalid, "an app may declare at most \(limits.typesPerApp) event types", slug: "too_many_event_types",
                limit: limits.typesPerApp)
        }
        return EventType(
            name: name, settings: settings, origin: origin, latestVersion: try await lastNumber(of: name, in: app),
            created: clock.now, updated: clock.now, etag: "")
    }

    /// Returns the last version number of a type, or of a removed type with this name. Numbers are never reused,
    /// because stored events refer to the versions of a removed type.
    private func lastNumber(of name: String, in app: AppID) async throws(ChatError) -> Int {
        var query = RecordQuery(.schemaVersion, in: app, limit: 1)
        query.parent = name
        query.sort = [(.field("number"), false)]
        return try await directory.list(query).items.first.flatMap { SchemaVersion($0) }?.number ?? 0
    }

    /// Returns the change that stores the record of a type. The change also contains the type's newest schema version
    /// in compiled form. A type that is declared again continues with its earlier versions. Must be called in the
    /// compile queue.
    func change(_ type: EventType, from old: EventType?, in app: AppID) async throws(ChatError) -> Change {
        let known = entry(type.name, in: app)?.compiled
        guard known?.number != type.latestVersion else { return change(type, from: old, compiled: known, in: app) }
        let compiled = try await compiled(type.latestVersion, of: type.name, in: app)
        return change(type, from: old, compiled: compiled, in: app)
    }

    /// Returns the change that stores the record of a type. After the commit, `compiled` validates the events of the
    /// type.
    ///
    /// - Parameter old: the stored type that the change replaces; nil when the type must not exist yet.
    private func change(
        _ type: EventType, from old: EventType?, compiled: CompiledVersion?, in app: AppID
    ) -> Change {
        let key = EventType.recordKey(type.name, in: app)
        let body = type.body
        var change = Change()
        change.records = [RecordChange(key, body: body, precondition: old.map { .etag($0.etag) } ?? .absent)]
        change.prepared.versions[key] = (body, compiled)
        return change
    }

    /// Checks a type and the next version of its schema, and returns the change that stores both. Must be called in the
    /// compile queue.
    ///
    /// - Returns: the change, the type, and the new version. The version is nil when the type's newest version already
    ///   has exactly this schema.
    func proposing(
        _ proposal: SchemaProposal, for type: EventType, from old: EventType?, in app: AppID
    ) async throws(ChatError) -> (change: Change, type: EventType, version: SchemaVersion?) {
        var type = type
        if let rule = proposal.compatibility { type.settings.compatibility = rule }
        let newest = try await version(type.latestVersion, of: type.name, in: app)
        let isKnown = newest?.schema == proposal.schema
        let schema = try (isKnown ? storedCheck : check).compile(proposal.schema)
        try check.tryExamples(of: proposal, on: schema)
        if !isKnown { try requireCapacity(for: schema, besides: .version, of: type.name, in: app) }
        if isKnown {
            let compiled = CompiledVersion(number: type.latestVersion, schema: schema)
            return (change(type, from: old, compiled: compiled, in: app), type, nil)
        }
        let number = type.latestVersion + 1
        guard number <= limits.versionsPerType else {
            throw .over(
                .invalid, "an event type may have at most \(limits.versionsPerType) versions",
                slug: "too_many_versions",
                limit: limits.versionsPerType)
        }
        let forced = try await requireCompatibility(of: schema, proposal, type, in: app)
        let version = SchemaVersion(
            type: type.name, number: number, schema: proposal.schema, examples: proposal.examples,
            counterExamples: proposal.counterExamples, compatibility: type.settings.compatibility, forced: forced,
            created: clock.now)
        type.latestVersion = number
        var change = change(
            type, from: old, compiled: CompiledVersion(number: number, schema: schema), in: app)
        change.records.append(
            RecordChange(
                SchemaVersion.recordKey(number, of: type.name, in: app), body: version.body, parent: type.name,
                precondition: .absent))
        return (change, type, version)
    }

    /// Checks a new schema against the type's compatibility rule.
    ///
    /// - Returns: the reason that the caller gave to override a violated rule; nil when the rule is satisfied.
    private func requireCompatibility(
        of schema: Schema, _ proposal: SchemaProposal, _ type: EventType, in app: AppID
    ) async throws(ChatError) -> String? {
        let rule = type.settings.compatibility
        guard rule.mode != .none, type.latestVersion > 0 else { return nil }
        let comparison = VersionComparison(rule: rule, type: type.name, number: type.latestVersion + 1)
        let oldest = rule.isTransitive ? 1 : type.latestVersion
        let end = ContinuousClock.now + limits.schemaComparison
        for number in (oldest...type.latestVersion).reversed() {
            guard !Task.isCancelled else { throw FairQueue.abandoned }
            guard let earlier = try await version(number, of: type.name, in: app) else { continue }
            do throws(ChatError) {
                // The time limit applies only to versions before the newest. The newest version is always compared.
                if number < type.latestVersion, ContinuousClock.now >= end {
                    throw comparison.unfinished(at: number, limit: limits.schemaComparison)
                }
                try comparison.require(schema, follows: try compiled(earlier, in: app), number: number)
            } catch {
                if let reason = proposal.forced { return reason }
                throw comparison.explained(error, at: number)
            }
        }
        return nil
    }

    /// The schema that a new schema replaces: the newest version or the candidate of an event type.
    enum Replaced { case version, candidate }

    /// Checks that a schema fits into the app's memory limit for compiled schemas.
    ///
    /// - Throws: `.invalid` with the slug `schema_memory_full` when the app's schemas would exceed
    ///   `Limits.schemaMemoryBytes`.
    func requireCapacity(
        for schema: Schema, besides replaced: Replaced, of name: String, in app: AppID
    ) throws(ChatError) {
        let kept = contents.withLock { contents -> Int in
            guard let app = contents[app] else { return 0 }
            let versions = app.entries.lazy.filter { replaced != .version || $0.key != ExactText(name) }
                .map { $0.value.compiled?.schema?.keptBytes ?? 0 }
            let candidates = app.candidates.lazy.filter { replaced != .candidate || $0.key != ExactText(name) }
                .map { $0.value.keptBytes }
            return versions.reduce(0, +) + candidates.reduce(0, +)
        }
        guard kept + schema.keptBytes <= limits.schemaMemoryBytes else {
            throw ChatError(
                .invalid,
                "this schema needs about \(schema.keptBytes) bytes of memory, and the app's other schemas use \(kept) of "
                    + "\(limits.schemaMemoryBytes) bytes: make the schema smaller, or delete types that are not used",
                slug: "schema_memory_full")
        }
    }

    private func compiled(_ version: SchemaVersion, in app: AppID) throws(ChatError) -> Schema {
        if let known = entry(version.type, in: app)?.compiled, known.number == version.number,
            let schema = known.schema
        {
            return schema
        }
        return try storedCheck.compile(version.schema)
    }

    /// Reads a stored version; nil when there is none.
    func version(_ number: Int, of name: String, in app: AppID) async throws(ChatError) -> SchemaVersion? {
        guard number > 0 else { return nil }
        return try await directory.read(SchemaVersion.recordKey(number, of: name, in: app))
            .flatMap { SchemaVersion($0) }
    }
}
