public import ChatModel
import JSON
import JSONSchema
import Locking
import Synchronization

/// A stored schema version that this gateway cannot compile. In mode `enforce`, every event of its type is rejected.
public struct UnusableVersion: Sendable {
    /// The app that declared the type.
    public var app: AppID
    /// The name of the event type.
    public var type: String
    /// The version's number.
    public var number: Int
    /// The reason why the version cannot be compiled, as a sentence.
    public var fault: String
}

extension EventTypes {
    /// Registers an observer of unusable versions. The observer is called for each unusable version that is found at
    /// the start of the gateway or after a declaration on another node.
    public func observeUnusable(_ body: @escaping @Sendable (UnusableVersion) -> Void) {
        unusableObservers.withLock { $0.append(body) }
    }

    /// Reports an unusable version to the observers in this process and, as a `schema.unusable` event on the channel
    /// `$system`, to the app's operators.
    func report(of version: UnusableVersion) async {
        for observer in unusableObservers.withLock({ $0 }) { observer(version) }
        let data = JSONText { writer in
            writer.beginObject()
            writer.member("event_type", version.type)
            writer.member("schema_version", version.number)
            writer.member("reason", version.fault)
            writer.endObject()
        }
        let channel = ChannelID(ChannelID.systemName, in: version.app)
        var draft = EventDraft(channel: channel, type: "schema.unusable", data: data)
        // All nodes find the version. The key makes their reports one event.
        if directory.isShared { draft.deduplicationKey = "schema.unusable/\(version.number)/\(version.type)" }
        // An error is ignored: the observers have already been called, and loading the types must not fail because the
        // log cannot store an event.
        _ = try? await log.append([draft], claim: nil)
    }
}

extension EventTypes {
    /// The schemas and candidates that this node compiles before it writes their records, by the key of the record. A
    /// schema is used only if the stored record has the same JSON, because another node may have written the record
    /// meanwhile.
    struct Prepared: Sendable {
        var versions: [RecordKey: (body: JSONText, compiled: CompiledVersion?)] = [:]
        var candidates: [RecordKey: (body: JSONText, candidate: Candidate)] = [:]
    }

    /// Reads all types and compiles their newest versions. Must run after the keyring is loaded, and finish before the
    /// first request.
    func load() async throws(ChatError) {
        _ = BuiltInValidators.all
        for app in keyring.apps {
            try await mirror.load(.eventType, in: app.id) { apply($0, $1, Prepared()) }
            for type in declared(in: app.id) { try await compile(EventType.recordKey(type.name, in: app.id)) }
            // The records of candidates are settings, and other modules have settings too. So they are listed by the
            // prefix of their id, and not loaded by kind through the mirror.
            var query = RecordQuery(.setting, in: app.id, limit: 500)
            query.idPrefix = Candidate.idPrefix
            try await directory.forEachPage(query) { records throws(ChatError) in
                for record in records { try await compile(record.key) }
            }
        }
    }

    /// Updates the event types in memory whenever the record of a type or candidate changes in the ``Directory``,
    /// whichever node wrote the record. Returns when the task is cancelled or the engine closes.
    func follow(from revision: Revision) async {
        await mirror.follow(
            from: revision, { apply($0, $1, Prepared()) },
            afterwards: { key in
                while !Task.isCancelled {
                    do {
                        return try await self.compile(key)
                    } catch {
                        // The newest schema of a type is required for validation, so this retries until the schema can
                        // be read.
                        try? await Task.sleep(for: .milliseconds(200))
                    }
                }
            })
    }

    /// Writes changes to the directory of records. They take effect on this node before this method returns.
    func write(_ changes: [RecordChange], _ prepared: Prepared = Prepared()) async throws(ChatError) -> [Record] {
        try await mirror.write(changes) { apply($0, $1, prepared) }
    }

    /// Updates the event types in memory from the current state of one record. `record` is nil when the record was
    /// removed.
    private func apply(_ key: RecordKey, _ record: Record?, _ prepared: Prepared) {
        switch key.kind {
        case .app where record == nil: contents.withLock { $0[AppID(key.id)] = nil }
        case .eventType: store(record.flatMap { EventType($0) }, key, made(for: key, record, prepared))
        case .setting:
            if let name = CandidateCounts.typeName(of: key), let record {
                contents.withLock { $0[key.app]?.candidates[name] }?.store(record)
            }
            guard let name = Candidate.typeName(of: key) else { return }
            contents.withLock { contents in
                if record == nil { contents[key.app]?.candidates[name] = nil }
                if let made = prepared.candidates[key], let record, made.body == record.body {
                    made.candidate.isStored(at: record.etag)
                    isUsed.store(true, ordering: .releasing)
                    contents[key.app, default: AppTypes()].put(made.candidate, for: name)
                }
            }
        default: break
        }
    }

    private func made(for key: RecordKey, _ record: Record?, _ prepared: Prepared) -> CompiledVersion? {
        guard let made = prepared.versions[key], made.body == record?.body else { return nil }
        return made.compiled
    }

    private func store(_ type: EventType?, _ key: RecordKey, _ made: CompiledVersion?) {
        let name = ExactText(key.id)
        contents.withLock { contents in
            guard let type else {
                contents[key.app]?.entries[name] = nil
                return
            }
            let known = contents[key.app]?.entries[name]?.compiled
            let compiled = made ?? (known?.number ?? 0 <= type.latestVersion ? known : nil)
            isUsed.store(true, ordering: .releasing)
            contents[key.app, default: AppTypes()].entries[name] = entry(type, compiled)
        }
    }

    private func entry(_ type: EventType, _ compiled: CompiledVersion?) -> Entry {
        let validator = compiled.map { compiled in
            SchemaValidator(
                SchemaReference(type: type.name, version: compiled.number), compiled.schema,
                mode: type.settings.mode, limits: limits)
        }
        return Entry(type: type, compiled: compiled, validator: validator)
    }

    /// Compiles the schema of a record, unless this node has already compiled it.
    private func compile(_ key: RecordKey) async throws(ChatError) {
        switch key.kind {
        case .eventType: try await compileVersion(of: key.id, in: key.app)
        case .setting: try await compileCandidate(key)
        default: break
        }
    }

    private func compileVersion(of name: String, in app: AppID) async throws(ChatError) {
        guard let wanted = wantedVersion(of: name, in: app) else { return }
        let compiled = try await FairQueue.offLoop { () async throws(ChatError) in
            try await self.compiled(wanted, of: name, in: app)
        }
        guard let compiled else { return }
        contents.withLock { contents in
            guard let entry = contents[app]?.entries[ExactText(name)], entry.type.latestVersion >= wanted,
                entry.compiled?.number ?? 0 < wanted
            else { return }
            contents[app]?.entries[ExactText(name)] = self.entry(entry.type, compiled)
        }
    }

    private func wantedVersion(of name: String, in app: AppID) -> Int? {
        guard let entry = entry(name, in: app) else { return nil }
        let latest = entry.type.latestVersion
        return latest > 0 && entry.compiled?.number != latest ? latest : nil
    }

    /// Reads and compiles a stored version; nil when the version has no record.
    func compiled(_ number: Int, of name: String, in app: AppID) async throws(ChatError) -> CompiledVersion? {
        let record = try await directory.read(SchemaVersion.recordKey(number, of: name, in: app))
        guard let record else { return nil }
        do throws(ChatError) {
            guard let version = SchemaVersion(record) else {
                throw ChatError(.malformed, "this release of the gateway cannot read the stored schema version")
            }
            return CompiledVersion(number: number, schema: try storedCheck.compile(version.schema))
        } catch {
            // The schema does not compile, for example because another release wrote it. The type then rejects its
            // payloads instead of accepting them unchecked.
            await report(of: UnusableVersion(app: app, type: name, number: number, fault: error.message))
            return CompiledVersion(number: number, schema: nil)
        }
    }

    private func compileCandidate(_ key: RecordKey) async throws(ChatError) {
        guard let name = Candidate.typeName(of: key) else { return }
        while let record = try await directory.read(key),
            contents.withLock({ $0[key.app]?.candidates[name]?.body }) != record.body
        {
            let candidate = try await FairQueue.offLoop { () async throws(ChatError) in
                Candidate(record, check: self.storedCheck)
            }
            var prepared = Prepared()
            prepared.candidates[key] = (record.body, candidate)
            // Refreshes the record through the mirror, which applies the current state of the record. Otherwise, a
            // candidate that was removed meanwhile would reappear for a moment.
            try await mirror.refresh(key) { [prepared] in apply($0, $1, prepared) }
            try await mirror.refresh(CandidateCounts.recordKey(of: name.text, in: key.app)) {
                apply($0, $1, Prepared())
            }
        }
    }
}
