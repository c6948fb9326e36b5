import ChatCore
public import ChatModel
import JSON
import Signing
import Templates

/// The members for the format, the schedule and the signatures of deliveries.
extension WebhookSettingsReader {
    static let timeoutSeconds = 5.0...30.0
    static let mostRetries = 30
    static let longestRetrySeconds = 30.0 * 24 * 3600
    static let ratePerSecond = 0.01...10_000.0
    static let batchEvents = 1...500
    static let batchBytes = 1024...8 * 1024 * 1024
    static let formatBytes = 1...64

    /// Reads the member `name` if it is about the format, the schedule or the signatures of deliveries. Returns false
    /// for any other member.
    mutating func readDelivery(_ name: String) throws(ChatError) -> Bool {
        switch name {
        case "format": try readFormat()
        case "template": try readTemplate()
        case "include": try readInclude()
        case "signatures": try readSignatures()
        case "retry": try readRetry()
        case "timeout_seconds":
            settings.timeout = try fields.number(name, in: Self.timeoutSeconds).map { .seconds($0) }
        case "rate_per_second": settings.ratePerSecond = try fields.number(name, in: Self.ratePerSecond)
        case "ordering": settings.ordering = try fields.choice(name, DeliveryOrdering.words) ?? .none
        case "batch": try readBatch()
        case "verification": settings.verification = try fields.word(name, WebhookVerification.self)
        default: return false
        }
        return true
    }

    /// Checks the members whose validity depends on other members.
    mutating func checkTogether() {
        let isTemplate = settings.format == BuiltInFormat.template.rawValue
        if isTemplate, settings.template == nil {
            fault("template", "required", "the format 'template' needs the member 'template'", slug: "member_missing")
        }
        if !isTemplate, settings.template != nil {
            // The document selects another format, so the template of the former settings is dropped.
            if !hasTemplate {
                settings.template = nil
            } else {
                fault("template", "format", "'template' can be sent only with the format 'template'")
            }
        }
        let including: [BuiltInFormat] = [.envelope, .template]
        if !settings.included.isEmpty, !including.contains(where: { $0.rawValue == settings.format }) {
            fault(
                "include", "format",
                "'include' needs the format 'envelope' or 'template'; '\(settings.format)' cannot contain included objects"
            )
        }
        let single: [BuiltInFormat] = [.cloudevents, .cloudeventsBinary]
        if settings.batch.map({ $0.events > 1 }) == true, single.contains(where: { $0.rawValue == settings.format }) {
            fault(
                "batch", "format",
                "the format '\(settings.format)' sends one event in each post; use cloudevents_batch for several events"
            )
        }
        if settings.auth != nil, settings.headers.contains(where: { $0.name.lowercased() == "authorization" }) {
            fault("headers", "auth", "the header 'authorization' must not be set here, because 'auth' sets it")
        }
    }

    private mutating func readFormat() throws(ChatError) {
        guard let name = try fields.string("format", bytes: Self.formatBytes) else {
            settings.format = BuiltInFormat.envelope.rawValue
            settings.template = nil
            return
        }
        settings.format = name
    }

    private mutating func readTemplate() throws(ChatError) {
        guard let raw = fields.member("template")?.text else {
            settings.template = nil
            return
        }
        hasTemplate = true
        do throws(TemplateFaults) {
            settings.template = try WebhookTemplate(raw)
        } catch {
            for one in error.faults { fault("template" + one.pointer, one.keyword, one.detail) }
        }
    }

    private mutating func readInclude() throws(ChatError) {
        let (included, unknown) = IncludedObject.objects(named: try fields.strings("include") ?? [])
        if let unknown { throw fields.fault("include/\(unknown)", "enum", "expected \(IncludedObject.choices)") }
        settings.included = included
    }

    private mutating func readSignatures() throws(ChatError) {
        let known = OutboundSigner.Signature.allCases
        guard let names = try fields.strings("signatures", count: 1...known.count) else {
            settings.signatures = [.standard]
            return
        }
        var signatures: [OutboundSigner.Signature] = []
        for (index, name) in names.enumerated() {
            guard let signature = OutboundSigner.Signature(rawValue: name) else {
                let words = known.map(\.rawValue).joined(separator: ", ")
                throw fields.fault("signatures/\(index)", "enum", "must be one of \(words)")
            }
            if !signatures.contains(signature) { signatures.append(signature) }
        }
        settings.signatures = signatures
    }

    private mutating func readRetry() throws(ChatError) {
        guard let retry = try fields.object("retry", known: ["delays_seconds"]) else {
            settings.retryDelays = nil
            return
        }
        let name = "delays_seconds"
        let delays = try retry.numbers(name, count: 0...Self.mostRetries, in: 0...Self.longestRetrySeconds)
        settings.retryDelays = try retry.required(name, delays).map { .seconds($0) }
    }

    private mutating func readBatch() throws(ChatError) {
        guard let batch = try fields.object("batch", known: ["max_events", "max_bytes"]) else {
            settings.batch = nil
            return
        }
        let bytes = try batch.integer("max_bytes", in: Self.batchBytes)
        let events = try batch.required("max_events", try batch.integer("max_events", in: Self.batchEvents))
        settings.batch = WebhookBatch(events: events, bytes: bytes ?? 1024 * 1024)
    }
}

extension DeliveryOrdering {
    static let words: [(word: String, value: DeliveryOrdering)] = [
        ("none", .none), ("per_channel", .perChannel), ("strict", .strict),
    ]

    /// The ordering with a name of the API; nil for an unknown name.
    public init?(word: String) {
        guard let known = Self.words.first(where: { $0.word == word }) else { return nil }
        self = known.value
    }

    /// The name of the ordering in the API.
    var word: String { Self.words.first { $0.value == self }?.word ?? "none" }
}
