import ChatCore
public import ChatModel
public import JSON
import Signing

extension WebhookSettings {
    /// The member names of a document with settings.
    public static let members = [
        "url", "types", "channels", "filter", "description", "format", "template", "include", "signatures", "batch",
        "headers",
        "auth",
        "tls", "concurrency", "retry", "timeout_seconds", "rate_per_second", "ordering", "verification",
    ]

    /// Parses the body of `POST /v1/webhooks` and `PUT /v1/webhooks/{id}`.
    ///
    /// The schema `WebhookSettings` of `openapi.yaml` describes the members; `url` is required. Members that the
    /// gateway sets (`id`, `status`, …) are ignored, so that clients can send back a document that they have read.
    ///
    /// - Throws: `.malformed` with an entry for each error. An unknown member is an error, so that a misspelled member
    ///   does not become a default.
    public init(_ body: JSONDocument, limits: Limits = Limits()) throws(ChatError) {
        var reader = try WebhookSettingsReader(body, over: WebhookSettings(url: ""), limits: limits, readOnly: .ignored)
        self = try reader.read()
    }

    /// Returns the settings after a merge patch (RFC 7396). An absent member keeps its value, and null restores the
    /// default.
    ///
    /// - Throws: the errors of `init`. A member that the gateway sets is also an error.
    public func merging(_ patch: JSONDocument, limits: Limits = Limits()) throws(ChatError) -> WebhookSettings {
        var reader = try WebhookSettingsReader(patch, over: self, limits: limits, readOnly: .refused)
        return try reader.read()
    }
}

extension Webhook {
    /// The webhook as the API returns it.
    ///
    /// - Parameter secret: the secret, if it was just created; nil otherwise.
    public func printed(secret: String? = nil) -> JSONText {
        JSONText(capacity: 1024) { print(to: &$0, secret: secret) }
    }

    /// Prints the webhook as the next value of `writer`.
    public func print(to writer: inout JSONWriter, secret: String? = nil) {
        writer.beginObject()
        writer.member("id", id)
        settings.printSelection(to: &writer)
        settings.printForm(to: &writer)
        settings.printCredentials(to: &writer)
        settings.printTiming(to: &writer)
        printState(to: &writer)
        if let secret { writer.member("secret", secret) }
        writer.endObject()
    }

    private func printState(to writer: inout JSONWriter) {
        writer.member("status", status.rawValue)
        writer.optionalMember("status_reason", statusReason)
        writer.optionalMember("failing_since", failingSince?.timestamp)
        writer.key("last_error")
        if let lastError {
            writer.beginObject()
            writer.member("at", lastError.at.timestamp)
            writer.member("error", lastError.error)
            if let status = lastError.status { writer.member("status", status) } else { writer.nullMember("status") }
            writer.endObject()
        } else {
            writer.null()
        }
        if let allowedPerMinute { writer.member("allowed_per_minute", allowedPerMinute) }
        if let appKey {
            writer.member("ed25519_key_id", appKey.id)
            writer.member("ed25519_public_key", appKey.publicText)
            if let previous = appKey.previous {
                writer.member("previous_ed25519_key_until", previous.until.timestamp)
            }
        }
        writer.member("circuit", circuit.condition.rawValue)
        if let until = circuit.until {
            writer.member("open_until", until.timestamp)
        } else {
            writer.nullMember("open_until")
        }
        if let until = secrets.compactMap(\.until).max() { writer.member("previous_secret_until", until.timestamp) }
        writer.member("created_at", created.timestamp)
        writer.member("etag", etag)
        writer.member("updated_at", updated.timestamp)
    }
}

extension WebhookSettings {
    fileprivate func printSelection(to writer: inout JSONWriter) {
        writer.member("url", url)
        writer.member("types", types.map(\.description))
        writer.member("channels", channels.map(\.description))
        writer.optionalMember("filter", filter?.text)
        writer.member("description", description)
    }

    fileprivate func printForm(to writer: inout JSONWriter) {
        writer.member("format", format)
        if let template { writer.member("template", template.text) }
        if !included.isEmpty { writer.member("include", IncludedObject.names(of: included)) }
        writer.member("signatures", signatures.map(\.rawValue))
        if let batch {
            writer.key("batch")
            writer.beginObject()
            writer.member("max_events", batch.events)
            writer.member("max_bytes", batch.bytes)
            writer.endObject()
        } else {
            writer.nullMember("batch")
        }
    }

    /// Prints the credentials. Their secrets are left out.
    fileprivate func printCredentials(to writer: inout JSONWriter) {
        writer.member("headers", headers.map(\.name))
        if let auth {
            writer.key("auth")
            auth.print(to: &writer, secret: nil)
        } else {
            writer.nullMember("auth")
        }
        if let tls {
            writer.key("tls")
            tls.print(to: &writer, secret: nil)
        } else {
            writer.nullMember("tls")
        }
    }

    fileprivate func printTiming(to writer: inout JSONWriter) {
        if let concurrency { writer.member("concurrency", concurrency) } else { writer.nullMember("concurrency") }
        writer.key("retry")
        printRetry(to: &writer)
        writer.key("timeout_seconds")
        writer.number((timeout ?? Self.defaultTimeout).seconds)
        writer.key("rate_per_second")
        if let ratePerSecond { writer.number(ratePerSecond) } else { writer.null() }
        writer.member("ordering", ordering.word)
        writer.optionalMember("verification", verification?.rawValue)
    }

    func printRetry(to writer: inout JSONWriter) {
        guard let retryDelays else { return writer.null() }
        writer.beginObject()
        writer.key("delays_seconds")
        writer.beginArray()
        for delay in retryDelays { writer.number(delay.seconds) }
        writer.endArray()
        writer.endObject()
    }
}

extension WebhookAuth {
    /// Prints the credentials as the next value of `writer`.
    ///
    /// - Parameter secret: returns the printed form of a secret; nil to leave secrets out.
    func print(to writer: inout JSONWriter, secret: ((String) -> String)?) {
        writer.beginObject()
        switch self {
        case .basic(let user, let password):
            writer.member("type", "basic")
            writer.member("username", user)
            if let secret { writer.member("password", secret(password)) }
        case .bearer(let token):
            writer.member("type", "bearer")
            if let secret { writer.member("token", secret(token)) }
        case .oauth2(let credentials):
            writer.member("type", "oauth2")
            writer.member("token_url", credentials.tokenURL)
            writer.member("client_id", credentials.clientID)
            if let secret { writer.member("client_secret", secret(credentials.clientSecret)) }
            if let scope = credentials.scope { writer.member("scope", scope) }
            if let audience = credentials.audience { writer.member("audience", audience) }
            writer.member("client_auth", credentials.isSentInBody ? "body" : "basic")
        }
        writer.endObject()
    }
}

extension WebhookTLS {
    /// Prints the TLS settings as the next value of `writer`.
    ///
    /// - Parameter secret: returns the printed form of the private key; nil to leave it out.
    func print(to writer: inout JSONWriter, secret: ((String) -> String)?) {
        writer.beginObject()
        if let certificate { writer.member("certificate", certificate) }
        if let privateKey, let secret { writer.member("private_key", secret(privateKey)) }
        if let authorities { writer.member("ca", authorities) }
        writer.endObject()
    }
}

extension JSONWriter {
    mutating func optionalMember(_ name: StaticString, _ value: String?) {
        if let value { member(name, value) } else { nullMember(name) }
    }

    /// Prints a number without unneeded digits, for example `5` or `0.5`.
    mutating func number(_ value: Double) {
        if let whole = Int64(exactly: value) { integer(whole) } else { raw(JSONText(trusted: Array("\(value)".utf8))) }
    }
}

extension Duration {
    var seconds: Double { self / .seconds(1) }
}

extension Limits {
    /// The limits for filters in stored records. A stored filter stays valid, even if the limits for new filters were
    /// lowered.
    static let ofStored: Limits = {
        var limits = Limits()
        limits.filterBytes = .max
        limits.filterDepth = 1000
        limits.filterSearches = .max
        return limits
    }()
}

extension Filter {
    /// Creates the filter of a stored record. Returns nil when the text no longer compiles.
    ///
    /// - Parameter compiles: false to keep the text without compiling it, for a record that is only shown. Compiling
    ///   the filters of all records of a page would delay all other requests.
    init?(ofRecord text: String, compiles: Bool) {
        guard compiles else {
            self.init(uncompiled: text)
            return
        }
        // The error is discarded, because the reader of a record cannot use it.
        guard let filter = try? Filter(text, limits: .ofStored) else { return nil }
        self = filter
    }
}
