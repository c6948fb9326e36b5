public import ChatModel
import JSON
import JSONSchema
import Locking

/// A stored version of a schema that this gateway cannot compile: in mode `enforce` every event of its type is refused.
public struct UnusableVersion: Sendable {
    public var app: AppID
    public var type: String
    public var number: Int
    /// Why, in a sentence.
    public var fault: String
}

extension EventTypes {
    /// Calls `body` for each unusable version that is met: when the gateway starts, when it is declared elsewhere.
    public func observeUnusable(_ body: @escaping @Sendable (UnusableVersion) -> Void) {
        unusableObservers.withLock { $0.append(body) }
    }

    /// Tells the process and, by `schema.unusable` on `$system`, the app's operators.
    func tell(of version: UnusableVersion) async {
        for observer in unusableObservers.withLock({ $0 }) { observer(version) }
        let data = JSONText { writer in
            writer.beginObject()
            writer.member("event_type", version.type)
            writer.member("schema_version", version.number)
            writer.member("reason", version.fault)
            writer.endObject()
        }
        let channel = ChannelID(ChannelID.systemName, in: version.app)
        // Told to the process already; the types must not wait for a log that takes nothing now.
        _ = try? await log.append([EventDraft(channel: channel, type: "schema.unusable", data: data)], claim: nil)
    }
}

extension EventTypes {
    /// What a write of this node has compiled, by the record it belongs to. Used only while that record says the same:
    /// another node's version has a schema of its own.
    struct Prepared: Sendable {
        var versions: [RecordKey: (body: JSONText, compiled: CompiledVersion?)] = [:]
        var candidates: [RecordKey: (body: JSONText, candidate: Candidate)] = [:]
    }

    /// Reads every type and compiles its newest version. Before the first request.
    ///
    /// - Returns: the revision from which `follow` goes on.
    func load() async throws(ChatError) -> Revision {
        _ = BuiltInValidators.all
        let revision = try await directory.revision()
        for app in keyring.apps {
            try await mirror.load(.eventType, in: app.id) { apply($0, $1, Prepared()) }
            for type in declared(in: app.id) { try await settle(EventType.recordKey(type.name, in: app.id)) }
            // Among settings of other rooms, so by their names and not as the mirror loads a kind.
            var query = RecordQuery(.setting, in: app.id, limit: 500)
            query.idPrefix = Candidate.idPrefix
            repeat {
                let page = try await directory.list(query)
                for record in page.items { try await settle(record.key) }
                query.cursor = page.cursor
            } while query.cursor != nil
        }
        return revision
    }

    /// Applies what changes in the directory, until cancelled or until the engine closes.
    func follow(from revision: Revision) async {
        await mirror.follow(
            from: revision, { apply($0, $1, Prepared()) },
            afterwards: { key in
                while !Task.isCancelled {
                    do {
                        return try await self.settle(key)
                    } catch {
                        // The schema of a type in force must be had: another attempt, until it can be read.
                        try? await Task.sleep(for: .milliseconds(200))
                    }
                }
            })
    }

    /// Writes to the directory; it counts on this node when this returns.
    func write(_ changes: [RecordChange], _ prepared: Prepared = Prepared()) async throws(ChatError) -> [Record] {
        try await mirror.write(changes) { apply($0, $1, prepared) }
    }

    /// Takes one record as it is now; nil when it was removed.
    private func apply(_ key: RecordKey, _ record: Record?, _ prepared: Prepared) {
        switch key.kind {
        case .app where record == nil: contents.withLock { $0[AppID(key.id)] = nil }
        case .eventType: take(record.flatMap { EventType($0) }, key, made(for: key, record, prepared))
        case .setting:
            guard let name = Candidate.typeName(of: key) else { return }
            contents.withLock { contents in
                if record == nil { contents[key.app]?.candidates[name] = nil }
                if let made = prepared.candidates[key], let record, made.body == record.body {
                    made.candidate.isStored(at: record.etag)
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

    private func take(_ type: EventType?, _ key: RecordKey, _ made: CompiledVersion?) {
        let name = ExactText(key.id)
        contents.withLock { contents in
            guard let type else {
                contents[key.app]?.entries[name] = nil
                return
            }
            let known = contents[key.app]?.entries[name]?.compiled
            let compiled = made ?? (known?.number ?? 0 <= type.latestVersion ? known : nil)
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

    /// Compiles what a record calls for and this node does not have yet.
    private func settle(_ key: RecordKey) async throws(ChatError) {
        switch key.kind {
        case .eventType: try await settleVersion(of: key.id, in: key.app)
        case .setting: try await settleCandidate(key)
        default: break
        }
    }

    private func settleVersion(of name: String, in app: AppID) async throws(ChatError) {
        guard let wanted = wantedVersion(of: name, in: app) else { return }
        let compiled = try await CompileQueue.aside { () async throws(ChatError) in
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

    /// A stored version, compiled; nil when there is no such record.
    func compiled(_ number: Int, of name: String, in app: AppID) async throws(ChatError) -> CompiledVersion? {
        let record = try await directory.read(SchemaVersion.recordKey(number, of: name, in: app))
        guard let record else { return nil }
        do throws(ChatError) {
            guard let version = SchemaVersion(record) else {
                throw ChatError(.malformed, "its record cannot be understood")
            }
            return CompiledVersion(number: number, schema: try storedCheck.compile(version.schema))
        } catch {
            // Another release wrote it, for instance. Nothing passes unchecked because of it.
            await tell(of: UnusableVersion(app: app, type: name, number: number, fault: error.message))
            return CompiledVersion(number: number, schema: nil)
        }
    }

    private func settleCandidate(_ key: RecordKey) async throws(ChatError) {
        guard let name = Candidate.typeName(of: key) else { return }
        while let record = try await directory.read(key),
            contents.withLock({ $0[key.app]?.candidates[name]?.body }) != record.body
        {
            let candidate = try await CompileQueue.aside { () async throws(ChatError) in
                Candidate(record, check: self.storedCheck)
            }
            var prepared = Prepared()
            prepared.candidates[key] = (record.body, candidate)
            // By the mirror, which takes what is so now: one that has become a version meanwhile, or was dropped, would
            // be back for a moment.
            try await mirror.refresh(key) { [prepared] in apply($0, $1, prepared) }
        }
    }
}
