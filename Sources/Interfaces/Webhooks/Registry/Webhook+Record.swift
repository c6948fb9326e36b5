import ChatKit
import ChatModel
import JSON
import Signing

extension Webhook {
    static func recordKey(of endpoint: EndpointID) -> RecordKey {
        RecordKey(.webhook, endpoint.name, in: endpoint.space)
    }

    var body: JSONText {
        JSONText(capacity: 512) { writer in
            writer.beginObject()
            writer.member("url", settings.url)
            writer.member("types", settings.types.map(\.description))
            writer.member("channels", settings.channels.map(\.description))
            if let filter = settings.filter { writer.member("filter", filter.text) }
            writer.member("description", settings.description)
            if let concurrency = settings.concurrency { writer.member("concurrency", concurrency) }
            writer.member("status", status.rawValue)
            if let statusReason { writer.member("status_reason", statusReason) }
            writer.key("secrets")
            writer.beginArray()
            for secret in secrets {
                writer.beginObject()
                writer.member("key", secret.key.text)
                if let until = secret.until { writer.member("until", until.description) }
                writer.endObject()
            }
            writer.endArray()
            writer.member("since", since.description)
            writer.member("created", created.description)
            writer.endObject()
        }
    }

    /// Reads what `body` printed; nil for a record that is no webhook of ours.
    init?(_ record: Record) {
        guard let root = try? JSONDocument(record.body).root, let url = root["url"]?.string,
            let status = root["status"]?.string.flatMap(Status.init(rawValue:))
        else { return nil }
        var settings = WebhookSettings(
            url: url, types: (root["types"]?.strings ?? []).compactMap(NamePattern.init),
            channels: (root["channels"]?.strings ?? []).compactMap(NamePattern.init),
            description: root["description"]?.string ?? "",
            concurrency: root["concurrency"]?.integer.flatMap { Int(exactly: $0) })
        if let text = root["filter"]?.string {
            // A filter that no longer compiles must not turn into none: that would tell the receiver of everything.
            guard let filter = try? Filter(text, limits: Self.storedLimits) else { return nil }
            settings.filter = filter
        }
        self.init(
            id: record.key.id, space: record.key.space, settings: settings, status: status,
            statusReason: root["status_reason"]?.string, secrets: Self.secrets(root["secrets"]),
            since: Self.time(root["since"]), created: Self.time(root["created"]), updated: record.updated,
            etag: record.etag)
    }

    /// What was accepted once stays, though the limits for new filters may have become narrower.
    private static let storedLimits: Limits = {
        var limits = Limits()
        limits.filterBytes = .max
        limits.filterDepth = 1000
        return limits
    }()

    private static func secrets(_ value: JSONValue?) -> [WebhookSecret] {
        (value?.elements ?? []).compactMap { element in
            guard let key = element["key"]?.string.flatMap({ try? StandardSigningKey($0) }) else { return nil }
            return WebhookSecret(key: key, until: element["until"]?.string.flatMap { Timetoken(text: $0) })
        }
    }

    private static func time(_ value: JSONValue?) -> Timetoken {
        value?.string.flatMap { Timetoken(text: $0) } ?? .zero
    }
}
