public import ChatModel
public import JSON
import JSONSchema
import Locking

/// A schema on trial: live events of a type are held against it after they were stored, and nothing comes of it but a
/// count. The schema is kept with the app; the counts are this node's since it was set or the node started.
final class Candidate: Sendable {
    private struct Counts {
        var accepted = 0
        var refused = 0
        var undecided = 0
        var samples: [CandidateReport.Sample] = []
    }

    static let idPrefix = "candidate/"
    /// Different faults remembered; what comes later is only counted.
    static let mostSamples = 20

    let text: JSONText
    let created: Timetoken
    /// The record it came from, to tell whether that has changed.
    let body: JSONText
    /// Nil for a stored schema that this gateway cannot compile: then every event is undecided.
    private let schema: Schema?
    private let counts = Lock(Counts())
    /// The version of its record, once that is stored.
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

    /// Reads what `body` printed. A record that cannot be understood is a candidate that decides nothing.
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

    /// The type a record is the candidate of; nil for a setting of another kind.
    static func typeName(of key: RecordKey) -> ExactText? {
        key.id.hasPrefix(idPrefix) ? ExactText(key.id.dropFirst(idPrefix.count)) : nil
    }

    /// - Parameter work: what may be done beside the request that brought the event; past it, events are undecided.
    func look(at event: Event, depth: Int, within work: inout ValidationBudget) {
        guard !work.isTooLarge(event.data.count) else { return counts.withLock { $0.undecided += 1 } }
        let value = try? JSONDocument(event.data.bytes, limits: JSONLimits(depth: depth)).root
        guard let schema, let value else { return counts.withLock { $0.undecided += 1 } }
        switch ValidationResult(of: value, by: schema, within: &work, limit: 1) {
        case .valid: counts.withLock { $0.accepted += 1 }
        case .invalid(let report): note(report, event)
        case .exhausted: counts.withLock { $0.undecided += 1 }
        }
    }

    private func note(_ report: Report, _ event: Event) {
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
    /// The same demand of the schema, wherever in the payload it was broken.
    fileprivate func isAlike(_ other: Self) -> Bool { schema == other.schema && keyword == other.keyword }
}

/// What a candidate would have done to the events stored since it was set.
public struct CandidateReport: Sendable {
    /// A fault that was found first in some events.
    public struct Sample: Sendable {
        public var fault: ChatError.FieldError
        public var count: Int
        /// The first such event.
        public var event: String
    }

    public var type: String
    public var schema: JSONText
    public var created: Timetoken
    public var accepted: Int
    public var refused: Int
    /// Neither: checking them was stopped at a limit, or they hold numbers beyond 64 bits.
    public var undecided: Int
    /// The first few kinds of fault.
    public var samples: [Sample]
    /// The version of what is on trial. What it would have done is not part of it.
    public var etag: String
}
