import ChatCore
import ChatModel
import JSON
import Signing

/// Parses a webhook from its record. Only the members of the first release are required, because older records lack the
/// others.
struct RecordReader {
    private let record: Record
    private let vault: Vault
    private let compilesFilter: Bool
    private var seals: [String: String] = [:]

    /// Creates a reader of a webhook's record.
    ///
    /// - Parameter compilesFilter: false for a webhook that is only shown.
    init(_ record: Record, _ vault: Vault, compilesFilter: Bool = true) {
        self.record = record
        self.vault = vault
        self.compilesFilter = compilesFilter
    }

    /// The webhook; nil when the record is not a valid webhook.
    mutating func webhook() -> Webhook? {
        do {
            return try read()
        } catch {
            // After any error, the webhook counts as unreadable, and its deliveries wait.
            return nil
        }
    }

    /// The unencrypted part of a webhook whose secrets cannot be decrypted: its selection and the position from which
    /// it receives events. This part suffices to plan deliveries, but not to send them. Nil when this part is invalid
    /// too.
    func selection() -> Webhook? {
        // The caller reports that the webhook cannot be read.
        guard let root = try? JSONDocument(record.body).root, let settings = try? selection(root) else { return nil }
        return unreadable(settings, root)
    }

    fileprivate func unreadable(_ settings: WebhookSettings, _ root: JSONValue?) -> Webhook {
        Webhook(
            id: record.key.id, app: record.key.app, settings: settings, status: .unreadable,
            statusReason: WebhookRegistry.unreadable.message, secrets: [], since: Self.time(root?["since"]),
            created: Self.time(root?["created"]), updated: record.updated, etag: record.etag)
    }

    private struct UnreadableRecord: Error {}

    private mutating func read() throws -> Webhook {
        let document = try JSONDocument(record.body)
        let root = document.root
        guard let status = root["status"]?.string.flatMap(Webhook.Status.init(rawValue:)) else {
            throw UnreadableRecord()
        }
        var webhook = Webhook(
            id: record.key.id, app: record.key.app, settings: try settings(root, document.text), status: status,
            statusReason: root["status_reason"]?.string, secrets: try secrets(root["secrets"]),
            since: Self.time(root["since"]), created: Self.time(root["created"]), updated: record.updated,
            etag: record.etag)
        webhook.verifiedURL = root["verified_url"]?.string
        webhook.allowedPerMinute = root["allowed_per_minute"]?.integer.flatMap { Int(exactly: $0) }
        if let sealed = root["app_key"]?.string {
            let previous = try root["previous_app_key"]?.string.map { try open($0) }
            let until = Self.time(root["previous_app_key_until"])
            webhook.appKey = AppSigningKey(try open(sealed), previous: previous.map { ($0, until) })
        }
        webhook.seals = seals
        return webhook
    }

    private func selection(_ root: JSONValue) throws -> WebhookSettings {
        guard let url = root["url"]?.string else { throw UnreadableRecord() }
        var settings = WebhookSettings(
            url: url, types: (root["types"]?.strings ?? []).compactMap(NamePattern.init),
            channels: (root["channels"]?.strings ?? []).compactMap(NamePattern.init),
            description: root["description"]?.string ?? "",
            concurrency: root["concurrency"]?.integer.flatMap { Int(exactly: $0) })
        // A filter that no longer compiles is an error. If it were ignored, the receiver would get every event.
        if let text = root["filter"]?.string {
            guard let filter = Filter(ofRecord: text, compiles: compilesFilter) else { throw UnreadableRecord() }
            settings.filter = filter
        }
        return settings
    }

    private mutating func settings(_ root: JSONValue, _ text: JSONText) throws -> WebhookSettings {
        var settings = try selection(root)
        settings.format = root["format"]?.string ?? settings.format
        if root["template"] != nil, let template = text.rawMember("template") {
            settings.template = try WebhookTemplate(template)
        }
        settings.included = IncludedObject.objects(named: root["include"]?.strings ?? []).objects
        if let names = root["signatures"]?.strings {
            settings.signatures = names.compactMap(OutboundSigner.Signature.init)
        }
        for member in root["headers"]?.members ?? [] {
            settings.headers.append(HeaderField(member.name, try open(member.value.string)))
        }
        settings.auth = try auth(root["auth"])
        settings.tls = try tls(root["tls"])
        readTiming(root, &settings)
        return settings
    }

    private func readTiming(_ root: JSONValue, _ settings: inout WebhookSettings) {
        settings.retryDelays = root["retry"]?["delays_seconds"]?.elements?.compactMap { $0.double.map { .seconds($0) } }
        settings.timeout = root["timeout_seconds"]?.double.map { .seconds($0) }
        settings.ratePerSecond = root["rate_per_second"]?.double
        settings.ordering = DeliveryOrdering.words.first { $0.word == root["ordering"]?.string }?.value ?? .none
        if let events = root["batch"]?["max_events"]?.integer, let bytes = root["batch"]?["max_bytes"]?.integer {
            settings.batch = WebhookBatch(events: Int(events), bytes: Int(bytes))
        }
        settings.verification = root["verification"]?.string.flatMap(WebhookVerification.init)
    }

    private mutating func auth(_ value: JSONValue?) throws -> WebhookAuth? {
        guard let value else { return nil }
        switch value["type"]?.string {
        case "basic":
            return .basic(user: value["username"]?.string ?? "", password: try open(value["password"]?.string))
        case "bearer": return .bearer(token: try open(value["token"]?.string))
        case "oauth2":
            var credentials = WebhookAuth.ClientCredentials(
                tokenURL: value["token_url"]?.string ?? "", clientID: value["client_id"]?.string ?? "",
                clientSecret: try open(value["client_secret"]?.string))
            credentials.scope = value["scope"]?.string
            credentials.audience = value["audience"]?.string
            credentials.isSentInBody = value["client_auth"]?.string == "body"
            return .oauth2(credentials)
        default: throw UnreadableRecord()
        }
    }

    private mutating func tls(_ value: JSONValue?) throws -> WebhookTLS? {
        guard let value else { return nil }
        let key = try value["private_key"]?.string.map { try open($0) }
        return try WebhookTLS(
            certificate: value["certificate"]?.string, privateKey: key, authorities: value["ca"]?.string)
    }

    private mutating func secrets(_ value: JSONValue?) throws -> [WebhookSecret] {
        try (value?.elements ?? []).map { element in
            WebhookSecret(
                key: try StandardSigningKey(try open(element["key"]?.string)),
                until: element["until"]?.string.flatMap { Timetoken(text: $0) })
        }
    }

    /// Decrypts a stored text and remembers its encrypted form.
    private mutating func open(_ stored: String?) throws -> String {
        guard let stored else { throw UnreadableRecord() }
        let clear = try vault.openText(stored, context: record.key.vaultContext)
        seals[clear] = stored
        return clear
    }

    private static func time(_ value: JSONValue?) -> Timetoken {
        value?.string.flatMap { Timetoken(text: $0) } ?? .zero
    }
}

extension Webhook {
    /// The part of an unreadable webhook that can be shown. If its selection cannot be read either, it has no types, no
    /// channels and no URL.
    static func unreadable(_ record: Record, _ vault: Vault) -> Webhook {
        let reader = RecordReader(record, vault, compilesFilter: false)
        return reader.selection() ?? reader.unreadable(WebhookSettings(url: "", types: [], channels: []), nil)
    }
}
