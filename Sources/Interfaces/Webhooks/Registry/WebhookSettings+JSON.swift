import ChatKit
public import ChatModel
public import JSON

extension WebhookSettings {
    /// Reads the body of `POST /v1/webhooks` and `PUT /v1/webhooks/{id}`.
    ///
    /// Members: `url` (required), `types`, `channels`, `filter`, `description`, `concurrency`. What the gateway itself
    /// decides (`id`, `status`, …) is ignored, so that a document that was read can be sent back.
    /// - Throws: `.malformed` with a fault for each mistake; an unknown member is one, since a slip must not become a
    ///   default.
    public init(_ body: JSONDocument, limits: Limits = Limits()) throws(ChatError) {
        var reader = SettingsReader(over: WebhookSettings(url: ""), limits: limits, readOnly: .ignored)
        self = try reader.read(body.root)
    }

    /// These settings changed by a merge patch (RFC 7396): a member left out stays, null puts the default back.
    /// - Throws: as `init`; also when the patch names what the gateway itself decides.
    public func merging(_ patch: JSONDocument, limits: Limits = Limits()) throws(ChatError) -> WebhookSettings {
        var reader = SettingsReader(over: self, limits: limits, readOnly: .refused)
        return try reader.read(patch.root)
    }
}

extension Webhook {
    /// The webhook as the native API shows it.
    /// - Parameter secret: only when it was just made.
    public func printed(secret: String? = nil) -> JSONText {
        JSONText(capacity: 512) { print(to: &$0, secret: secret) }
    }

    /// Prints it as the next value of `writer`.
    public func print(to writer: inout JSONWriter, secret: String? = nil) {
        writer.beginObject()
        writer.member("id", id)
        writer.member("url", settings.url)
        writer.member("types", settings.types.map(\.description))
        writer.member("channels", settings.channels.map(\.description))
        if let filter = settings.filter { writer.member("filter", filter.text) } else { writer.nullMember("filter") }
        writer.member("description", settings.description)
        if let concurrency = settings.concurrency {
            writer.member("concurrency", concurrency)
        } else {
            writer.nullMember("concurrency")
        }
        writer.member("status", status.rawValue)
        if let statusReason { writer.member("status_reason", statusReason) } else { writer.nullMember("status_reason") }
        if let failingSince {
            writer.member("failing_since", failingSince.timestamp)
        } else {
            writer.nullMember("failing_since")
        }
        if let until = secrets.compactMap(\.until).max() { writer.member("previous_secret_until", until.timestamp) }
        writer.member("created_at", created.timestamp)
        writer.member("updated_at", updated.timestamp)
        if let secret { writer.member("secret", secret) }
        writer.endObject()
    }
}
