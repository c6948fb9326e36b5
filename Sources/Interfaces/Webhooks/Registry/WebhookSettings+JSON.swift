public import ChatModel
public import JSON
import ChatKit

extension WebhookSettings {
    /// Reads the body of `POST /v1/webhooks` and `PUT /v1/webhooks/{id}`.
    ///
    /// Members: `url` (required), `types`, `channels`, `filter`, `description`, `concurrency`. What the gateway itself
    /// decides (`id`, `status`, …) is ignored, so that a document that was read can be sent back.
    /// - Throws: `.malformed` naming the member; an unknown one too, since a slip must not become a default.
    public init(_ body: JSONDocument, limits: Limits = Limits()) throws(ChatError) {
        throw ChatError(.unavailable, "not ready")
    }

    /// These settings changed by a merge patch (RFC 7396): a member left out stays, null puts the default back.
    /// - Throws: as `init`; `.malformed` when the patch tries to change what the gateway decides.
    public func merging(_ patch: JSONDocument, limits: Limits = Limits()) throws(ChatError) -> WebhookSettings { self }
}

extension Webhook {
    /// The webhook as the native API shows it.
    /// - Parameter secret: only when it was just made.
    public func printed(secret: String? = nil) -> JSONText {
        JSONText { print(to: &$0, secret: secret) }
    }

    /// Prints it as the next value of `writer`.
    public func print(to writer: inout JSONWriter, secret: String? = nil) {}
}
