public import ChatModel
public import JSON
import JSONSchema
import Locking

/// A candidate schema: live events of a type are checked against it after they were stored, and only counted. The
/// schema is stored with the app; the counts are this node's since the candidate was set or the node started.
final class Candidate: Sendable {
    private struct Counts {
        var accepted = 0
        var refused = 0
        var undecided = 0
        var samples: [CandidateReport.Sample] = []
    }

    static let idPrefix = "candidate/"
    /// The maximum number of distinct errors kept as samples; further ones are only counted.
    static let mostSamples = 20

    let text: JSONText
    let created: Timetoken
    /// The body of its record, to detect whether the record has changed.
    let body: JSONText
    /// Nil for a stored schema that this gateway cannot compile. Then every event is undecided.
    private let schema: Schema?
    private let counts = Lock(Counts())
    /// The version of its record; empty before it is stored.
    private let version = Lock("")

    init(_ text: JSONText, _ schema: Schema?, created: Timetoken) {
        self.text = text
        self.schema = schema
        self.created = created
        body = JSONText(capacity: text.count + 64) { writer in
            writer.beginObject()
            writer.member("schema", text)
            writer.member("created", created.description)
            writer.endObject()
        }
    }

    /// Reads what `body` printed. A record that cannot be parsed becomes a candidate for which every event is
    /// undecided.
    convenience init(_ record: Record, check: SchemaCheck) {
        let text = record.body.rawMember("schema") ?? .null
        let created = (try? JSONDocument(record.body).root["created"]?.string).flatMap { Timetoken(text: $0) }
        self.init(text, try? check.compile(text), created: created ?? record.updated)
        isStored(at: record.etag)
    }

    func isStored(at etag: String) { version.withLock { $0 = etag } }

    var keptBytes: Int { schema?.keptBytes ?? 0 }

    static func recordKey(of type: String, in app: AppID) -> RecordKey {
        RecordKey(.setting, idPrefix + type, in: app)
    }

    /// The name of the type whose candidate a record holds; nil for any other setting.
    static func typeName(of key: RecordKey) -> ExactText? {
        key.id.hasPrefix(idPrefix) ? ExactText(key.id.dropFirst(idPrefix.count)) : nil
    }

    /// Checks a stored event against the candidate and counts the result.
    ///
    /// - Parameter work: the validation budget beside the request that brought the event. When it is exhausted, events
    ///   are undecided.
    func inspect(_ event: Event, depth: Int, within work: inout ValidationBudget) {
        guard !work.isTooLarge(event.data.count) else { return counts.withLock { $0.undecided += 1 } }
        let value = try? JSONDocument(event.data.bytes, limits: JSONLimits(depth: depth)).root
        guard let schema, let value else { return counts.withLock { $0.undecided += 1 } }
        switch ValidationResult(of: value, by: schema, within: &work, limit: 1) {
        case .valid: counts.withLock { $0.accepted += 1 }
        case .invalid(let report): recordFailure(report, event)
        case .exhausted: counts.withLock { $0.undecided += 1 }
        }
    }

    private func recordFailure(_ report: Report, _ event: Event) {
        counts.withLock { counts in
            counts.refused += 1
            guard let first = report.violations.first.map({ ChatError.FieldError($0) }) else { return }
            if let known = counts.samples.firstIndex(where: { $0.fault.isAlike(first) }) {
                counts.samples[known].count += 1
            } else if counts.samples.count < Self.mostSamples {
                counts.samples.append(CandidateReport.Sample(fault: first, count: 1, event: event.id))
            }
        }
    }

    func report(of type: String) -> CandidateReport {
        counts.withLock { counts in
            CandidateReport(
                type: type, schema: text, created: created, accepted: counts.accepted, refused: counts.refused,
                undecided: counts.undecided, samples: counts.samples, etag: version.withLock(\.self))
        }
    }
}

extension ChatError.FieldError {
    /// True when both errors violate the same keyword of the schema, wherever in the payload.
    fileprivate func isAlike(_ other: Self) -> Bool { schema == other.schema && keyword == other.keyword }
}

/// The effect that a candidate would have had on the events stored since it was set.
public struct CandidateReport: Sendable {
    /// An error that was the first one found in some events.
    public struct Sample: Sendable {
        /// The error and its place in the payload.
        public var fault: ChatError.FieldError
        /// The number of events with this error.
        public var count: Int
        /// The id of the first such event.
        public var event: String
    }

    /// The event type's name.
    public var type: String
    /// The candidate schema.
    public var schema: JSONText
    /// The time at which the candidate was set.
    public var created: Timetoken
    /// The number of events that the candidate accepted.
    public var accepted: Int
    /// The number of events that the candidate refused.
    public var refused: Int
    /// Events that were neither accepted nor refused: the check reached a limit, or they contain numbers beyond 64
    /// bits.
    public var undecided: Int
    /// The first distinct errors, at most 20.
    public var samples: [Sample]
    /// The version of the candidate. It does not change with the counts.
    public var etag: String
}
