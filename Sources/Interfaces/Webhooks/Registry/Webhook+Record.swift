import ChatCore
import ChatModel
import JSON
import Signing

extension Webhook {
    static func recordKey(of subscriber: SubscriberID) -> RecordKey {
        RecordKey(.webhook, subscriber.name, in: subscriber.app)
    }

    /// The form in which the webhook is stored as a record. Secrets are encrypted.
    func body(_ vault: Vault) -> JSONText {
        let seal = sealer(vault)
        return JSONText(capacity: 1024) { writer in
            writer.beginObject()
            settings.printRecord(to: &writer, seal)
            writer.member("status", status.rawValue)
            if let statusReason { writer.member("status_reason", statusReason) }
            if let verifiedURL { writer.member("verified_url", verifiedURL) }
            if let allowedPerMinute { writer.member("allowed_per_minute", allowedPerMinute) }
            writer.key("secrets")
            writer.beginArray()
            for secret in secrets {
                writer.beginObject()
                writer.member("key", seal(secret.key.text))
                if let until = secret.until { writer.member("until", until.description) }
                writer.endObject()
            }
            writer.endArray()
            if let appKey { writer.member("app_key", seal(appKey.text)) }
            if let previous = appKey?.previous {
                writer.member("previous_app_key", seal(previous.text))
                writer.member("previous_app_key_until", previous.until.description)
            }
            writer.member("since", since.description)
            writer.member("created", created.description)
            writer.endObject()
        }
    }

    private func sealer(_ vault: Vault) -> (String) -> String {
        let context = Self.recordKey(of: subscriber).vaultContext
        return { clear in
            if let stored = seals[clear], vault.isCurrent(stored) { return stored }
            return vault.seal(clear, context: context)
        }
    }

    /// Parses a record in the form of `body`. Nil when it is not a valid webhook, or when its encryption key is not
    /// available.
    ///
    /// - Parameter compilesFilter: false for a webhook that is only shown.
    init?(_ record: Record, _ vault: Vault, compilesFilter: Bool = true) {
        var reader = RecordReader(record, vault, compilesFilter: compilesFilter)
        guard let webhook = reader.webhook() else { return nil }
        self = webhook
    }
}

extension WebhookSettings {
    fileprivate func printRecord(to writer: inout JSONWriter, _ seal: @escaping (String) -> String) {
        writer.member("url", url)
        writer.member("types", types.map(\.description))
        writer.member("channels", channels.map(\.description))
        if let filter { writer.member("filter", filter.text) }
        writer.member("description", description)
        if let concurrency { writer.member("concurrency", concurrency) }
        writer.member("format", format)
        if let template { writer.member("template", template.text) }
        if !included.isEmpty { writer.member("include", IncludedObject.names(of: included)) }
        writer.member("signatures", signatures.map(\.rawValue))
        if !headers.isEmpty {
            writer.key("headers")
            writer.beginObject()
            for field in headers {
                writer.key(text: field.name)
                writer.string(seal(field.value))
            }
            writer.endObject()
        }
        if let auth {
            writer.key("auth")
            auth.print(to: &writer, secret: seal)
        }
        if let tls {
            writer.key("tls")
            tls.print(to: &writer, secret: seal)
        }
        if retryDelays != nil {
            writer.key("retry")
            printRetry(to: &writer)
        }
        if let timeout {
            writer.key("timeout_seconds")
            writer.number(timeout.seconds)
        }
        if let ratePerSecond {
            writer.key("rate_per_second")
            writer.number(ratePerSecond)
        }
        writer.member("ordering", ordering.word)
        if let batch {
            writer.key("batch")
            writer.beginObject()
            writer.member("max_events", batch.events)
            writer.member("max_bytes", batch.bytes)
            writer.endObject()
        }
        if let verification { writer.member("verification", verification.rawValue) }
    }
}
