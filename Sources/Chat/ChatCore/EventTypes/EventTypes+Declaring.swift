import ChatModel
import JSON
import JSONSchema
import Locking

extension EventTypes {
    /// What becomes of the directory and of this registry together, in one commit.
    struct Change: Sendable {
        var records: [RecordChange] = []
        var prepared = Prepared()
    }

    /// Does `work` in the workshop; again when another node wrote in between, unless the caller demanded a version.
    func settling<Result: Sendable>(
        _ demand: RecordChange.Demand, in space: SpaceID, _ work: @Sendable () async throws(ChatError) -> Result
    ) async throws(ChatError) -> Result {
        for _ in 0..<8 {
            do {
                return try await workshop.run(for: space, work)
            } catch {
                let isOvertaken = error.code == .stale || (error.code == .conflict && error.current != nil)
                guard isOvertaken, case .none = demand else { throw error }
            }
        }
        throw ChatError(.conflict, "the event type is being changed by others; ask again", retryAfter: .seconds(1))
    }

    func stored(_ name: String, in space: SpaceID) async throws(ChatError) -> EventType? {
        try await directory.read(EventType.recordKey(name, in: space)).flatMap { EventType($0) }
    }

    /// The type with other settings, or a new one. In the workshop.
    func declaring(
        _ name: String, _ settings: EventTypeSettings, origin: EventType.Origin, over old: EventType?,
        others: Int = 0, in space: SpaceID
    ) async throws(ChatError) -> EventType {
        try settings.check()
        if var type = old {
            type.settings = settings
            type.origin = origin
            return type
        }
        let count = contents.withLock { $0[space]?.entries.count ?? 0 }
        guard count + others < limits.typesPerApp else {
            throw .over(
                .invalid, "an app may declare at most \(limits.typesPerApp) event types", slug: "too_many_event_types",
                limit: limits.typesPerApp)
        }
        return EventType(
            name: name, settings: settings, origin: origin, latestVersion: try await lastNumber(of: name, in: space),
            created: clock.now, updated: clock.now, etag: "")
    }

    /// Versions outlive their type, so that no number is given twice: stored events name them.
    private func lastNumber(of name: String, in space: SpaceID) async throws(ChatError) -> Int {
        var query = RecordQuery(.schemaVersion, in: space, limit: 1)
        query.parent = name
        query.sort = [(.field("number"), false)]
        return try await directory.list(query).items.first.flatMap { SchemaVersion($0) }?.number ?? 0
    }

    /// A type with the newest version it has; one that was removed takes up its versions again. In the workshop.
    func change(_ type: EventType, from old: EventType?, in space: SpaceID) async throws(ChatError) -> Change {
        let known = entry(type.name, in: space)?.compiled
        guard known?.number != type.latestVersion else { return change(type, from: old, compiled: known, in: space) }
        let compiled = try await compiled(type.latestVersion, of: type.name, in: space)
        return change(type, from: old, compiled: compiled, in: space)
    }

    /// The record of a type as it is to be, and the version that it is checked by from then on.
    private func change(
        _ type: EventType, from old: EventType?, compiled: CompiledVersion?, in space: SpaceID
    ) -> Change {
        let key = EventType.recordKey(type.name, in: space)
        let body = type.body
        var change = Change()
        change.records = [RecordChange(key, body: body, demand: old.map { .etag($0.etag) } ?? .absent)]
        change.prepared.versions[key] = (body, compiled)
        return change
    }

    /// A type and the next version of its schema, both checked. In the workshop.
    ///
    /// - Returns: nil for the version when the newest one has this very schema: then there is nothing to add.
    func proposing(
        _ proposal: SchemaProposal, for type: EventType, from old: EventType?, in space: SpaceID
    ) async throws(ChatError) -> (change: Change, type: EventType, version: SchemaVersion?) {
        var type = type
        if let rule = proposal.compatibility { type.settings.compatibility = rule }
        let newest = try await version(type.latestVersion, of: type.name, in: space)
        let isKnown = newest?.schema == proposal.schema
        let schema = try (isKnown ? storedCheck : check).compile(proposal.schema)
        try check.tryExamples(of: proposal, on: schema)
        if !isKnown { try demandRoom(for: schema, besides: .version, of: type.name, in: space) }
        if isKnown {
            let compiled = CompiledVersion(number: type.latestVersion, schema: schema)
            return (change(type, from: old, compiled: compiled, in: space), type, nil)
        }
        let number = type.latestVersion + 1
        guard number <= limits.versionsPerType else {
            throw .over(
                .invalid, "an event type may have at most \(limits.versionsPerType) versions",
                slug: "too_many_versions",
                limit: limits.versionsPerType)
        }
        let forced = try await demandCompatibility(of: schema, proposal, type, in: space)
        let version = SchemaVersion(
            type: type.name, number: number, schema: proposal.schema, examples: proposal.examples,
            counterExamples: proposal.counterExamples, compatibility: type.settings.compatibility, forced: forced,
            created: clock.now)
        type.latestVersion = number
        var change = change(
            type, from: old, compiled: CompiledVersion(number: number, schema: schema), in: space)
        change.records.append(
            RecordChange(
                SchemaVersion.recordKey(number, of: type.name, in: space), body: version.body, parent: type.name,
                demand: .absent))
        return (change, type, version)
    }

    /// - Returns: the reason a rule was set aside for; nil when it holds.
    private func demandCompatibility(
        of schema: Schema, _ proposal: SchemaProposal, _ type: EventType, in space: SpaceID
    ) async throws(ChatError) -> String? {
        let rule = type.settings.compatibility
        guard rule.mode != .none, type.latestVersion > 0 else { return nil }
        let comparison = VersionComparison(rule: rule, type: type.name, number: type.latestVersion + 1)
        let oldest = rule.isTransitive ? 1 : type.latestVersion
        let end = ContinuousClock.now + limits.schemaComparison
        for number in (oldest...type.latestVersion).reversed() {
            guard !Task.isCancelled else { throw Workshop.abandoned }
            guard let earlier = try await version(number, of: type.name, in: space) else { continue }
            do throws(ChatError) {
                // The newest has its turn always.
                if number < type.latestVersion, ContinuousClock.now >= end {
                    throw comparison.unfinished(at: number, limit: limits.schemaComparison)
                }
                try comparison.demand(schema, follows: try compiled(earlier, in: space), number: number)
            } catch {
                if let reason = proposal.forced { return reason }
                throw comparison.explained(error, at: number)
            }
        }
        return nil
    }

    /// What a schema takes the place of.
    enum Replaced { case version, candidate }

    /// - Throws: `.invalid` with the slug `schema_memory_full` past `Limits.schemaMemoryBytes`.
    func demandRoom(
        for schema: Schema, besides replaced: Replaced, of name: String, in space: SpaceID
    ) throws(ChatError) {
        let kept = contents.withLock { contents -> Int in
            guard let app = contents[space] else { return 0 }
            let versions = app.entries.lazy.filter { replaced != .version || $0.key != ExactText(name) }
                .map { $0.value.compiled?.schema?.keptBytes ?? 0 }
            let candidates = app.candidates.lazy.filter { replaced != .candidate || $0.key != ExactText(name) }
                .map { $0.value.keptBytes }
            return versions.reduce(0, +) + candidates.reduce(0, +)
        }
        guard kept + schema.keptBytes <= limits.schemaMemoryBytes else {
            throw ChatError(
                .invalid,
                "this schema takes about \(schema.keptBytes) bytes of memory, and the app's others \(kept) of the "
                    + "\(limits.schemaMemoryBytes) there are: make it smaller, or remove types no longer used",
                slug: "schema_memory_full")
        }
    }

    private func compiled(_ version: SchemaVersion, in space: SpaceID) throws(ChatError) -> Schema {
        if let known = entry(version.type, in: space)?.compiled, known.number == version.number,
            let schema = known.schema
        {
            return schema
        }
        return try storedCheck.compile(version.schema)
    }

    /// A stored version; nil when there is none.
    func version(_ number: Int, of name: String, in space: SpaceID) async throws(ChatError) -> SchemaVersion? {
        guard number > 0 else { return nil }
        return try await directory.read(SchemaVersion.recordKey(number, of: name, in: space))
            .flatMap { SchemaVersion($0) }
    }
}
