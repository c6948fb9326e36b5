import ChatKit
public import ChatModel
public import JSON

/// The webhooks of all apps: their administration, and what the planner and the sender read of them without waiting.
///
/// The directory is the truth; this follows it. A change made on this node counts at once, on another within a second.
/// Every verb demands the scope `manage`; webhooks of other apps are `.notFound`.
public final class WebhookRegistry: Sendable {
    let service: ChatService

    init(service: ChatService) { self.service = service }

    /// Makes a webhook. It is told of events committed after this call began.
    ///
    /// - Throws: `.malformed` for a URL the address guard refuses (slug `url_refused`) or bad settings; `.invalid` past
    ///   `Limits.webhooksPerApp`; `.forbidden`.
    public func create(
        _ settings: WebhookSettings, by caller: Caller
    ) async throws(ChatError) -> IssuedWebhook { throw ChatError(.unavailable, "not ready") }

    /// - Throws: `.notFound`.
    public func webhook(_ id: String, by caller: Caller) async throws(ChatError) -> Webhook {
        throw ChatError(.unavailable, "not ready")
    }

    /// The app's webhooks in the order of their ids.
    public func list(
        limit: Int, cursor: String? = nil, by caller: Caller
    ) async throws(ChatError) -> Page<Webhook> { throw ChatError(.unavailable, "not ready") }

    /// Puts other settings in the place of all present ones.
    /// - Parameter etag: the demanded version (`If-Match`); nil takes any.
    /// - Throws: `.stale`, `.notFound`, and what `create` throws.
    public func replace(
        _ id: String, with settings: WebhookSettings, ifMatch etag: String? = nil, by caller: Caller
    ) async throws(ChatError) -> Webhook { throw ChatError(.unavailable, "not ready") }

    /// Changes some settings by a merge patch (RFC 7396).
    /// - Throws: as `replace`.
    public func patch(
        _ id: String, with patch: JSONDocument, ifMatch etag: String? = nil, by caller: Caller
    ) async throws(ChatError) -> Webhook { throw ChatError(.unavailable, "not ready") }

    /// Removes a webhook; what was still owed to it turns dead.
    /// - Throws: `.stale`, `.notFound`.
    public func delete(_ id: String, ifMatch etag: String? = nil, by caller: Caller) async throws(ChatError) {
        throw ChatError(.unavailable, "not ready")
    }

    /// Lets held deliveries go out. Nothing happens when it is enabled already.
    public func enable(_ id: String, by caller: Caller) async throws(ChatError) -> Webhook {
        throw ChatError(.unavailable, "not ready")
    }

    /// Holds deliveries back. Nothing happens when it is disabled already.
    public func disable(
        _ id: String, reason: String = "disabled by hand", by caller: Caller
    ) async throws(ChatError) -> Webhook { throw ChatError(.unavailable, "not ready") }

    /// Makes a new secret; the present one signs beside it for `overlap`, so that receivers can change over.
    /// - Parameter overlap: zero to seven days.
    public func rotateSecret(
        of id: String, overlap: Duration = .seconds(24 * 3600), by caller: Caller
    ) async throws(ChatError) -> IssuedWebhook { throw ChatError(.unavailable, "not ready") }

    /// Who would be told of an event, and why or why not: every webhook of the event's app, in the order of their ids.
    /// For dry runs and explanations; costs a filter evaluation for each webhook.
    public func explain(_ event: Event) -> [WebhookMatch] { [] }
}

/// Whether a webhook is told of an event.
public struct WebhookMatch: Sendable {
    public var webhook: String
    public var matches: Bool
    /// One sentence: the pattern that matched, or the first condition that did not hold.
    public var why: String
}
