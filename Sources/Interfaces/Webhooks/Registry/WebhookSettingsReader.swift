import ChatCore
import ChatModel
import JSON

/// Reads the members of a webhook's document and collects all errors, so that one response reports all of them. `null`
/// restores the default of a member.
struct WebhookSettingsReader {
    /// The treatment of members that the gateway sets.
    enum ReadOnlyMembers { case ignored, refused }

    /// The permitted length of a URL in bytes. No practical receiver has a longer URL.
    static let urlBytes = 1...2048
    static let descriptionBytes = 0...1000
    static let concurrencyRange = 1...100
    private static let readOnly: Set<String> = [
        "id", "status", "status_reason", "failing_since", "secret", "previous_secret_until", "created_at", "updated_at",
        "allowed_per_minute", "ed25519_key_id", "ed25519_public_key", "previous_ed25519_key_until", "circuit",
        "last_error", "open_until",
    ]

    let fields: Fields
    private let limits: Limits
    private let readOnlyMembers: ReadOnlyMembers
    var settings: WebhookSettings
    /// True when the document contains a template.
    var hasTemplate = false
    /// True when the document contains every secret of `auth`.
    var hasAuthSecrets = false
    /// The lower-case names of the header fields whose values the document contains.
    var headersWithValue: Set<String> = []
    /// The URL of the settings before the document is applied.
    private let formerURL: String
    private var faults = ValidationErrors()

    /// Creates a reader that applies a document to existing settings.
    ///
    /// - Throws: `.malformed` when the document is not an object.
    init(
        _ document: JSONDocument, over settings: WebhookSettings, limits: Limits, readOnly: ReadOnlyMembers
    ) throws(ChatError) {
        fields = try Fields(document, known: nil)
        self.settings = settings
        formerURL = settings.url
        self.limits = limits
        readOnlyMembers = readOnly
    }

    /// Reads all members.
    ///
    /// - Throws: `.malformed` with an entry for each error.
    mutating func read() throws(ChatError) -> WebhookSettings {
        for member in fields.members {
            do throws(ChatError) { try read(member.name) } catch { faults.add(error) }
        }
        if faults.isEmpty { checkTogether() }
        if faults.isEmpty, !formerURL.isEmpty { checkSecrets(movedFrom: formerURL) }
        if settings.url.isEmpty, faults.isEmpty { faults.add(fields.missing("member 'url'")) }
        try faults.check()
        return settings
    }

    private mutating func read(_ name: String) throws(ChatError) {
        switch name {
        case "url": try readURL()
        case "types":
            settings.types = try fields.typePatterns(name, most: limits.streamChannels) ?? [.all]
        case "channels":
            settings.channels = try fields.channelPatterns(name, most: limits.streamChannels) ?? [.all]
        case "filter": try readFilter()
        case "description":
            settings.description = try fields.string(name, bytes: Self.descriptionBytes) ?? ""
        case "concurrency": settings.concurrency = try fields.integer(name, in: Self.concurrencyRange)
        case _ where Self.readOnly.contains(name): try refuseReadOnly(name)
        default:
            if try readDelivery(name) { return }
            if try readCredentials(name) { return }
            throw fields.unknown(name, known: WebhookSettings.members)
        }
    }

    private func refuseReadOnly(_ name: String) throws(ChatError) {
        // A secret in the document would be ignored, and every signature would fail, so it is an error. The other
        // read-only members may be in a document that was read from the API.
        if name == "secret" {
            throw fields.fault(
                name, "readOnly",
                "is set by the gateway; to use your own secret, send it to POST /v1/webhooks/{id}/rotate-secret")
        }
        guard readOnlyMembers == .refused else { return }
        throw fields.fault(name, "readOnly", "\(name) is set by the gateway and cannot be changed here")
    }

    private mutating func readURL() throws(ChatError) {
        guard let url = try fields.string("url", bytes: Self.urlBytes) else {
            throw fields.fault("url", "type", "must not be null", slug: "wrong_type")
        }
        settings.url = url
    }

    private mutating func readFilter() throws(ChatError) {
        let text = try fields.string("filter")
        do throws(ChatError) {
            settings.filter = try text.map { text throws(ChatError) in try Filter(text, limits: limits) }
        } catch {
            throw fields.fault("filter", "filter", error.message, slug: "bad_filter")
        }
    }

    /// Adds an error about a member of the document to the collected errors.
    ///
    /// - Parameter member: the path of the member.
    mutating func fault(_ member: String, _ keyword: String, _ detail: String, slug: String = "bad_member") {
        faults.add(fields.fault(member, keyword, detail, slug: slug))
    }
}
