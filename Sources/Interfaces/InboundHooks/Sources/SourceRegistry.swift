public import ChatCore
public import ChatModel
public import JSON
import Locking
import Logging
import Signing

/// The sources of all apps: their administration, and a copy in memory that the receiver of posts reads.
///
/// The directory (the store of records) contains the authoritative records, and the registry follows its changes. A
/// change through this registry takes effect immediately, a change by another process within a second. Every method
/// requires the scope `manage`. A source of another app is `.notFound`, and its id can be used in this app.
public final class SourceRegistry: Sendable {
    let service: ChatService
    let logger: Logger
    private struct State: Sendable {
        var receivers: [RecordKey: PreparedSource] = [:]
        /// The first app; nil until it is known. The paths of its sources do not contain the app's name.
        var firstApp: AppID?
    }

    let mirror: RecordMirror
    private let state = Lock(State())
    /// The latest requests of each source.
    let requests: RequestLog
    let archive: RequestArchive

    init(service: ChatService, logger: Logger) {
        self.service = service
        self.logger = logger
        mirror = RecordMirror([.app, .source], of: service.engine.directory)
        archive = RequestArchive(service.engine.directory, logger: logger)
        requests = RequestLog(whole: .whole(bodyLimitBytes: service.limits.inboundBodyBytes), archive: archive)
        answerCalls()
    }

    var directory: any Directory { service.engine.directory }
    private var vault: Vault { service.vault }

    /// Finds a source by its id. Returns nil when it does not exist, or when its settings cannot be used.
    ///
    /// - Parameter app: the app in the path; nil for the first app.
    func receiver(_ id: String, in app: String?) -> PreparedSource? {
        // The sources of a deleted app are removed only some time after the app.
        key(of: id, in: app).flatMap { key in state.withLock { $0.receivers[key] } }
    }

    /// The key of a source's record; nil when the app does not exist.
    func key(of id: String, in app: String?) -> RecordKey? {
        guard let app = app.map({ AppID($0) }) ?? state.withLock(\.firstApp), service.keyring.contains(app) else {
            return nil
        }
        return RecordKey(.source, id, in: app)
    }

    /// Parses a record. Returns nil when it is not a valid source.
    private func source(_ record: Record) -> Source? {
        guard var source = Source(record, vault) else { return nil }
        source.isOfFirstApp = state.withLock { $0.firstApp == source.app }
        return source
    }

    /// Creates a source, or replaces its settings.
    ///
    /// The caller's patterns of channels and types are stored with the source, so the source may emit what the caller
    /// may emit.
    ///
    /// - Parameters:
    ///   - body: the settings; see `SourceSettings`.
    ///   - isPatch: true to change an existing source. Settings that the body leaves out are then kept.
    /// - Returns: the source, and whether it was created.
    /// - Throws: `.notFound` for a patch of a source that does not exist; `.malformed` with faults; `.invalid` when the
    ///   app already has `Limits.sourcesPerApp` sources; `.conflict` when other callers change the source during eight
    ///   attempts; the errors of `RecordChange.Precondition.check`.
    public func put(
        _ id: String, _ body: JSONDocument, isPatch: Bool = false, precondition: RecordChange.Precondition = .none,
        by caller: Caller
    ) async throws(ChatError) -> (source: Source, isNew: Bool) {
        try caller.require(.manage)
        try Source.check(id: id)
        for _ in 0..<8 {
            let old = try await directory.read(RecordKey(.source, id, in: caller.app)).flatMap(source)
            try precondition.check(old?.etag)
            do throws(ChatError) {
                if let old { return (try await replace(old, body, isPatch, caller), false) }
                guard !isPatch else { throw Self.unknown }
                return (try await create(id, body, caller), true)
            } catch {
                // Another caller has written the source in the meantime. The next attempt reads it again.
                guard error.code == .stale else { throw error }
            }
        }
        throw ChatError(.conflict, "the source is being changed by another request; try again", retryAfter: .seconds(1))
    }

    /// Returns a source.
    ///
    /// - Throws: `.forbidden` without `manage`; `.notFound` when the app has no such source.
    public func source(_ id: String, by caller: Caller) async throws(ChatError) -> Source {
        try caller.require(.manage)
        let record = try await directory.read(RecordKey(.source, id, in: caller.app))
        guard let source = record.flatMap(source) else { throw Self.unknown }
        return source
    }

    /// Lists the app's sources, in the order of their ids unless the list requests another order.
    ///
    /// - Throws: `.malformed` for an invalid cursor.
    public func list(_ list: RecordList, by caller: Caller) async throws(ChatError) -> Page<Source> {
        try caller.require(.manage)
        return try await list.page(
            of: RecordQuery(.source, in: caller.app, limit: list.limit), in: directory, limits: service.limits,
            created: \.created
        ) { [self] records in records.map { source($0) } }
    }

    /// Deletes a source. Its id can then be used again.
    ///
    /// - Throws: `.forbidden` when the caller's channels and types do not cover the source's; `.notFound` when the app
    ///   has no such source; `.stale` when the source does not have the version `etag`.
    public func delete(_ id: String, ifMatch etag: String? = nil, by caller: Caller) async throws(ChatError) {
        let source = try await source(id, by: caller)
        try Self.requireReach(of: source, by: caller)
        do throws(ChatError) {
            let removal = RecordChange(source.recordKey, body: nil, precondition: etag.map { .etag($0) } ?? .present)
            _ = try await mirror.write([removal] + MappingVersion.removals(of: source), apply)
        } catch {
            throw error.code == .notFound ? Self.unknown : error
        }
    }

    /// The latest mappings of a source, at most 20, the newest first.
    ///
    /// - Throws: `.forbidden` without `manage`; `.notFound` when the app has no such source.
    public func mappings(of id: String, by caller: Caller) async throws(ChatError) -> [MappingVersion] {
        let source = try await source(id, by: caller)
        let records = try await directory.read(MappingVersion.keys(of: source))
        let versions = records.compactMap { $0.flatMap { MappingVersion($0) } }
        // If no versions are stored, the source still has its original mapping.
        return versions.isEmpty ? [MappingVersion(of: source, at: source.updated, by: "")] : versions
    }

    static let unknown = ChatError(.notFound, "no source has this id")
    static let stale = ChatError(
        .stale, "the source has changed since it was read; read it again, and repeat the change")
}

extension SourceRegistry {
    /// Requires that the caller's channels and types cover the channels and types of the source. Other callers may
    /// neither change nor delete the source.
    ///
    /// - Throws: `.forbidden`.
    static func requireReach(of source: Source, by caller: Caller) throws(ChatError) {
        let hasChannels = caller.channels.coversAll(source.channels)
        let hasTypes = caller.types.coversAll(source.types)
        guard hasChannels, hasTypes else {
            throw ChatError(
                .forbidden, "this credential does not have access to every channel and type that the source may emit")
        }
    }

    private func replace(
        _ old: Source, _ body: JSONDocument, _ isPatch: Bool, _ caller: Caller
    ) async throws(ChatError) -> Source {
        try Self.requireReach(of: old, by: caller)
        var source = old
        source.settings = try SourceSettings(body, over: old.settings, isPatch: isPatch)
        source.channels = caller.channels
        source.types = caller.types
        var changes: [RecordChange] = []
        if source.settings.mapping.text != old.settings.mapping.text {
            source.mappingVersion += 1
            let version = MappingVersion(of: source, at: service.clock.now, by: caller.credential)
            changes = [version.change] + [version.removal].compactMap { $0 }
            // The source still has its original mapping, which is not stored as a version yet.
            if old.mappingVersion == 1, try await directory.read(MappingVersion.keys(of: old))[0] == nil {
                changes.append(MappingVersion(of: old, at: old.updated, by: "").change)
            }
        }
        let body = source.body(sealedBy: vault)
        return try await write(
            source, [RecordChange(source.recordKey, body: body, precondition: .etag(old.etag))] + changes)
    }

    private func create(_ id: String, _ body: JSONDocument, _ caller: Caller) async throws(ChatError) -> Source {
        let most = service.limits.sourcesPerApp
        guard state.withLock({ $0.receivers.keys.count { $0.app == caller.app } }) < most else {
            throw ChatError(
                .invalid, "an app may have at most \(most) sources; delete one first", slug: "too_many_sources")
        }
        let now = service.clock.now
        let source = Source(
            id: id, app: caller.app, settings: try SourceSettings(body), channels: caller.channels,
            types: caller.types, created: now, updated: now, etag: "")
        do throws(ChatError) {
            return try await write(
                source,
                [
                    RecordChange(source.recordKey, body: source.body(sealedBy: vault), precondition: .absent),
                    MappingVersion(of: source, at: now, by: caller.credential).change,
                ])
        } catch {
            throw error.code == .conflict ? Self.stale : error
        }
    }

    private func write(_ source: Source, _ changes: [RecordChange]) async throws(ChatError) -> Source {
        let record = try await mirror.write(changes, apply)[0]
        var stored = source
        stored.etag = record.etag
        stored.updated = record.updated
        stored.isOfFirstApp = state.withLock { $0.firstApp == stored.app }
        return stored
    }

    // MARK: - Following the directory

    /// Reads all sources. Returns the revision of the store of records from which `follow` continues.
    func load() async throws(ChatError) -> Revision {
        let revision = try await directory.revision()
        state.withLock { $0.firstApp = service.keyring.apps.first(where: \.isFirst)?.id }
        for app in service.keyring.apps {
            try await mirror.load(.source, in: app.id, apply)
            try await restoreRequests(in: app.id)
        }
        return revision
    }

    /// Reads the stored requests, 8 at a time because each may be large. Removes the requests that are too old, and the
    /// requests of a deleted source, so that a new source with the same id does not show them.
    private func restoreRequests(in app: AppID) async throws(ChatError) {
        let edge = service.clock.now.adding(.zero - RequestLog.Bounds().age)
        var births: [RecordKey: Timetoken] = [:]
        let query = RecordQuery(.inboundRequest, in: app, limit: 8)
        try await directory.forEachPage(query) { records throws(ChatError) in
            for record in records {
                let source = RecordKey(.source, record.parent ?? "", in: app)
                if births[source] == nil {
                    let holder = try await directory.read(source)
                    births[source] = holder.map { Source($0, vault)?.created ?? .zero } ?? .distantFuture
                }
                if let request = InboundRequest(record), request.at >= max(edge, births[source] ?? .distantFuture) {
                    requests.restore(request, of: source)
                } else {
                    archive.remove([record.key])
                }
            }
        }
    }

    /// Updates the sources in memory after each change of a source's or app's record, beginning after `revision`.
    /// Returns when the task is cancelled or the engine closes.
    func follow(from revision: Revision) async {
        await mirror.follow(from: revision, apply) { key, error in
            logger.warning(
                "cannot read a changed source; trying again",
                metadata: ["record": "\(key.id)", "error": "\(error.message)"])
        }
    }

    /// Updates the sources in memory with the current state of a source's or app's record; nil for a deleted record.
    private func apply(_ key: RecordKey, _ record: Record?) {
        switch key.kind {
        case .source:
            if record == nil { requests.forget { $0 == key } }
            let receiver = record.flatMap { self.receiver(of: $0) }
            state.withLock { $0.receivers[key] = receiver }
        default: if record == nil { drop(AppID(key.id)) }
        }
    }

    /// Prepares a source for posts. Nil for a source that cannot be used, whose posts are then rejected. This includes
    /// a source whose secrets cannot be decrypted, because its posts cannot be verified.
    private func receiver(of record: Record) -> PreparedSource? {
        guard let source = Source(record, vault) else {
            logger.error(
                "cannot parse the source's record; posts to it are rejected", metadata: ["source": "\(record.key.id)"])
            return nil
        }
        do throws(SignatureSchemeError) {
            return PreparedSource(source, verifiers: try source.settings.verifiers())
        } catch {
            logger.error(
                "cannot use the source's signature settings; posts to it are rejected",
                metadata: ["source": "\(source.id)"])
            return nil
        }
    }

    /// Removes the sources of a deleted app and their logged requests.
    private func drop(_ app: AppID) {
        state.withLock { state in state.receivers = state.receivers.filter { $0.key.app != app } }
        requests.forget { $0.app == app }
    }
}
