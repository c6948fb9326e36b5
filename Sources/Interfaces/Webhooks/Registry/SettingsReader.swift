import ChatCore
import ChatModel
import JSON

/// Reads the members of a webhook's document one by one and gathers every mistake, so that a sender learns of all at
/// once.
struct SettingsReader {
    /// What a document can do to the members the gateway itself decides.
    enum ReadOnlyMembers { case ignored, refused }

    /// As far as a receiver's address goes in practice; longer is a mistake or an attack.
    static let urlLimitBytes = 2048
    static let descriptionLimitBytes = 1000
    static let concurrencyRange = 1...100
    private static let readOnly: Set<String> = [
        "id", "status", "status_reason", "failing_since", "secret", "previous_secret_until", "created_at", "updated_at",
        "allowed_per_minute", "ed25519_key_id", "ed25519_public_key", "previous_ed25519_key_until", "circuit",
        "open_until",
    ]

    private let limits: Limits
    private let readOnlyMembers: ReadOnlyMembers
    var settings: WebhookSettings
    /// Whether the document itself has a template.
    var givesTemplate = false
    /// Whether it gives every secret of `auth` itself, and the headers, in lower case, whose values it gives.
    var givesAuth = false
    var givenHeaders: Set<String> = []
    /// The address before the document was read.
    private let formerURL: String
    private(set) var faults: [ChatError.Fault] = []

    init(over settings: WebhookSettings, limits: Limits, readOnly: ReadOnlyMembers) {
        self.settings = settings
        formerURL = settings.url
        self.limits = limits
        readOnlyMembers = readOnly
    }

    mutating func read(_ document: JSONDocument) throws(ChatError) -> WebhookSettings {
        guard let members = document.root.members else {
            fault(nil, "type", "the webhook must be a JSON object")
            throw refusal
        }
        for member in members { read(member.name, member.value, document.text) }
        if faults.isEmpty { checkTogether() }
        if faults.isEmpty, !formerURL.isEmpty { checkSecrets(movedFrom: formerURL) }
        if settings.url.isEmpty, faults.isEmpty { fault(nil, "required", "missing member 'url'") }
        guard faults.isEmpty else { throw refusal }
        return settings
    }

    /// With the code that emits answer for the same mistake.
    private var refusal: ChatError {
        let slug =
            switch faults[0].keyword {
            case "required": "member_missing"
            case "type": "wrong_type"
            case "unknown": "unknown_member"
            case "filter": "bad_filter"
            default: "bad_member"
            }
        var error = ChatError(.malformed, "\(faults[0].pointer): \(faults[0].detail)", slug: slug)
        error.faults = faults
        return error
    }

    private mutating func read(_ name: String, _ value: JSONValue, _ text: JSONText) {
        switch name {
        case "url": readURL(value)
        case "types": readTypes(value)
        case "channels": readChannels(value)
        case "filter": readFilter(value)
        case "description": readDescription(value)
        case "concurrency": readConcurrency(value)
        case _ where Self.readOnly.contains(name):
            // A secret that was sent and is not used would break every signature; the others come with a copied document.
            if name == "secret" {
                fault(name, "readOnly", "a secret of your own is given to /v1/webhooks/{id}/rotate-secret")
            } else if readOnlyMembers == .refused {
                fault(name, "readOnly", "\(name) is decided by the gateway and cannot be set here")
            }
        default:
            let isRead =
                readDelivery(name, value, name == "template" ? text.rawMember(name) : nil)
                || readCredentials(name, value)
            if !isRead { faults.append(.unknown(name, known: WebhookSettings.members)) }
        }
    }

    private mutating func readURL(_ value: JSONValue) {
        guard let url = value.string, (1...Self.urlLimitBytes).contains(url.utf8.count) else {
            return fault("url", "type", "url must be a text of 1 to \(Self.urlLimitBytes) bytes")
        }
        settings.url = url
    }

    private mutating func readTypes(_ value: JSONValue) {
        let rule = { (name: String) throws(ChatError) in try Names.check(type: name) }
        settings.types = patterns(value, "types", "order.paid, order.* or *", rule) ?? settings.types
    }

    private mutating func readChannels(_ value: JSONValue) {
        let rule = { (name: String) throws(ChatError) in try Names.check(channel: name) }
        settings.channels = patterns(value, "channels", "orders.eu, orders.* or *", rule) ?? settings.channels
    }

    private mutating func readFilter(_ value: JSONValue) {
        if value.isNull {
            settings.filter = nil
            return
        }
        guard let text = value.string else { return fault("filter", "type", "filter must be a text or null") }
        do throws(ChatError) {
            settings.filter = try Filter(text, limits: limits)
        } catch {
            fault("filter", "filter", error.message)
        }
    }

    private mutating func readDescription(_ value: JSONValue) {
        if value.isNull {
            settings.description = ""
            return
        }
        guard let text = value.string, text.utf8.count <= Self.descriptionLimitBytes else {
            return fault(
                "description", "type", "description must be a text of at most \(Self.descriptionLimitBytes) bytes")
        }
        settings.description = text
    }

    private mutating func readConcurrency(_ value: JSONValue) {
        if value.isNull {
            settings.concurrency = nil
            return
        }
        guard let number = value.integer.flatMap({ Int(exactly: $0) }), Self.concurrencyRange.contains(number) else {
            return fault("concurrency", "range", "concurrency must be a whole number from 1 to 100, or null")
        }
        settings.concurrency = number
    }

    /// All patterns for null; nil after a fault of the list itself.
    private mutating func patterns(
        _ value: JSONValue, _ name: String, _ examples: String, _ rule: (String) throws(ChatError) -> Void
    ) -> [NamePattern]? {
        if value.isNull { return [.all] }
        guard let texts = value.strings, (1...limits.streamChannels).contains(texts.count) else {
            fault(name, "type", "\(name) must be a list of 1 to \(limits.streamChannels) patterns such as \(examples)")
            return nil
        }
        return NamePattern.list(texts, of: rule) { fault("\(name)/\($0)", "pattern", $1) }
    }

    /// - Parameter member: its path; nil for the document itself.
    mutating func fault(_ member: String?, _ keyword: String, _ detail: String) {
        faults.append(ChatError.Fault(pointer: member.map { "#/" + $0 } ?? "#", keyword: keyword, detail: detail))
    }
}
