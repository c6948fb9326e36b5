public import ChatModel
import JSON
import Signing
import Templates

/// How deliveries look and when they are made.
extension SettingsReader {
    static let timeoutSeconds = 5.0...30.0
    static let mostRetries = 30
    static let longestRetrySeconds = 30.0 * 24 * 3600
    static let ratePerSecond = 0.01...10_000.0
    static let batchEvents = 1.0...500.0
    static let batchBytes = 1024.0...8 * 1024 * 1024

    /// True when the member is one of these.
    mutating func readDelivery(_ name: String, _ value: JSONValue, _ raw: JSONText?) -> Bool {
        switch name {
        case "format": readFormat(value)
        case "template": readTemplate(value, raw)
        case "signatures": readSignatures(value)
        case "retry": readRetry(value)
        case "timeout_seconds":
            settings.timeout = number(value, name, Self.timeoutSeconds).map { .seconds($0) }
        case "rate_per_second": settings.ratePerSecond = number(value, name, Self.ratePerSecond)
        case "ordering":
            settings.ordering = choice(value, name, DeliveryOrdering.words) ?? .none
        case "batch": readBatch(value)
        case "verification":
            settings.verification = choice(
                value, name, WebhookVerification.allCases.map { ($0.rawValue, $0) })
        default: return false
        }
        return true
    }

    /// What one member cannot know of another.
    mutating func checkTogether() {
        let isTemplate = settings.format == BuiltInFormat.template.rawValue
        if isTemplate, settings.template == nil {
            fault("template", "required", "the format 'template' needs the member template")
        }
        if !isTemplate, settings.template != nil {
            // Another format was chosen: the template it had is of no use any more.
            if !givesTemplate {
                settings.template = nil
            } else {
                fault("template", "format", "a template goes with the format 'template' only")
            }
        }
        let single: [BuiltInFormat] = [.cloudevents, .cloudeventsBinary]
        if settings.batch.map({ $0.events > 1 }) == true, single.contains(where: { $0.rawValue == settings.format }) {
            fault("batch", "format", "the format '\(settings.format)' has one event a post; cloudevents_batch has many")
        }
        if settings.auth != nil, settings.headers.contains(where: { $0.name.lowercased() == "authorization" }) {
            fault("headers", "auth", "the header authorization is decided by auth")
        }
    }

    private mutating func readFormat(_ value: JSONValue) {
        if value.isNull {
            settings.format = BuiltInFormat.envelope.rawValue
            settings.template = nil
            return
        }
        guard let name = value.string, (1...64).contains(name.utf8.count) else {
            return fault("format", "type", "format must be a text")
        }
        settings.format = name
    }

    private mutating func readTemplate(_ value: JSONValue, _ raw: JSONText?) {
        guard !value.isNull, let raw else {
            settings.template = nil
            return
        }
        givesTemplate = true
        do throws(TemplateFaults) {
            settings.template = try WebhookTemplate(raw)
        } catch {
            for one in error.faults { fault("template" + one.pointer, one.keyword, one.detail) }
        }
    }

    private mutating func readSignatures(_ value: JSONValue) {
        if value.isNull {
            settings.signatures = [.standard]
            return
        }
        let known = OutboundSigner.Signature.allCases.map(\.rawValue).joined(separator: ", ")
        guard let names = value.strings, !names.isEmpty else {
            return fault("signatures", "type", "signatures must be a list of \(known)")
        }
        var signatures: [OutboundSigner.Signature] = []
        for (index, name) in names.enumerated() {
            guard let signature = OutboundSigner.Signature(rawValue: name) else {
                fault("signatures/\(index)", "enum", "expected one of \(known)")
                continue
            }
            if !signatures.contains(signature) { signatures.append(signature) }
        }
        settings.signatures = signatures
    }

    private mutating func readRetry(_ value: JSONValue) {
        if value.isNull {
            settings.retryDelays = nil
            return
        }
        guard let list = object(value, "retry", known: ["delays_seconds"])?["delays_seconds"]?.elements,
            list.count <= Self.mostRetries
        else {
            return fault(
                "retry", "type",
                "retry must be {\"delays_seconds\": […]} with at most \(Self.mostRetries) delays")
        }
        var delays: [Duration] = []
        for (index, element) in list.enumerated() {
            let seconds = number(element, "retry/delays_seconds/\(index)", 0...Self.longestRetrySeconds)
            if let seconds { delays.append(.seconds(seconds)) }
        }
        settings.retryDelays = delays
    }

    private mutating func readBatch(_ value: JSONValue) {
        if value.isNull {
            settings.batch = nil
            return
        }
        guard let members = object(value, "batch", known: ["max_events", "max_bytes"]),
            let events = number(members["max_events"], "batch/max_events", Self.batchEvents)
        else { return fault("batch", "type", "batch must be {\"max_events\": 1…500, \"max_bytes\": …}") }
        let bytes = number(members["max_bytes"], "batch/max_bytes", Self.batchBytes)
        guard let events = Int(exactly: events), let bytes = Int(exactly: bytes ?? 1024 * 1024) else {
            return fault("batch", "type", "the members of batch are whole numbers")
        }
        settings.batch = WebhookBatch(events: events, bytes: bytes)
    }

    // MARK: Values

    /// Nil for null, and after a fault.
    private mutating func number(_ value: JSONValue?, _ pointer: String, _ range: ClosedRange<Double>) -> Double? {
        guard let value, !value.isNull else { return nil }
        guard let number = value.double, range.contains(number) else {
            fault(
                pointer, value.double == nil ? "type" : "range",
                "expected a number from \(Self.text(range.lowerBound)) to \(Self.text(range.upperBound))")
            return nil
        }
        return number
    }

    private static func text(_ number: Double) -> String {
        Int64(exactly: number).map(String.init) ?? String(number)
    }

    private mutating func choice<Value>(
        _ value: JSONValue, _ pointer: String, _ choices: [(word: String, value: Value)]
    ) -> Value? {
        if value.isNull { return nil }
        if let word = value.string, let choice = choices.first(where: { $0.word == word }) { return choice.value }
        fault(pointer, "enum", "expected one of \(choices.map(\.word).joined(separator: ", "))")
        return nil
    }

    /// The object, if it is one with known members only. Nil after a fault.
    mutating func object(_ value: JSONValue, _ pointer: String, known: [String]) -> JSONValue? {
        guard let members = value.members else {
            fault(pointer, "type", "expected an object")
            return nil
        }
        var isKnown = true
        for member in members where !known.contains(member.name) {
            fault("\(pointer)/\(member.name.prefix(64))", "unknown", "unknown member")
            isKnown = false
        }
        return isKnown ? value : nil
    }
}

extension DeliveryOrdering {
    static let words: [(word: String, value: DeliveryOrdering)] = [
        ("none", .none), ("per_channel", .perChannel), ("strict", .strict),
    ]

    /// Nil for a word there is none of.
    public init?(word: String) {
        guard let known = Self.words.first(where: { $0.word == word }) else { return nil }
        self = known.value
    }

    /// As the API spells it.
    var word: String { Self.words.first { $0.value == self }?.word ?? "none" }
}
