import ChatKit
public import ChatModel
public import JSON

/// The sources of all apps: their administration, and what the gate reads of them without waiting.
///
/// The directory is the truth; this follows it. A change made on this node counts at once, on another within a second.
/// Every verb demands the scope `manage`; sources of other apps are `.notFound`.
public final class SourceRegistry: Sendable {
    let service: ChatService

    init(service: ChatService) { self.service = service }

    /// Makes a source, or puts other settings in the place of its present ones.
    ///
    /// - Parameters:
    ///   - body: as `SourceSettings` reads it. Secrets left out of an existing source's body stay as they are.
    ///   - etag: the demanded version (`If-Match`); nil takes any.
    /// - Returns: the source, and whether it is new.
    /// - Throws: `.malformed` with faults; `.conflict` when another app has a source of that id; `.invalid` past
    ///   `Limits.sourcesPerApp`; `.stale`; `.notFound` when `etag` is given and there is no such source.
    public func put(
        _ id: String, _ body: JSONDocument, ifMatch etag: String? = nil, by caller: Caller
    ) async throws(ChatError) -> (source: Source, isNew: Bool) { throw ChatError(.unavailable, "not ready") }

    /// - Throws: `.notFound`.
    public func source(_ id: String, by caller: Caller) async throws(ChatError) -> Source {
        throw ChatError(.unavailable, "not ready")
    }

    /// The app's sources in the order of their ids.
    public func list(
        limit: Int, cursor: String? = nil, by caller: Caller
    ) async throws(ChatError) -> Page<Source> { throw ChatError(.unavailable, "not ready") }

    /// Removes a source and sets its id free.
    /// - Throws: `.stale`, `.notFound`.
    public func delete(_ id: String, ifMatch etag: String? = nil, by caller: Caller) async throws(ChatError) {
        throw ChatError(.unavailable, "not ready")
    }
}
