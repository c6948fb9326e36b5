public import ChatModel
public import JSON
import JSONSchema
import Locking

/// A candidate schema of an event type. Events of the type are checked against it after they are appended, and only the
/// results are counted. The schema is stored as a setting of the app. The counts are in the memory of this node, and
/// start at zero when the candidate is set or the node starts.
final class Candidate: Sendable {
    private struct Counts {
        var accepted = 0
        var refused = 0
        var undecided = 0
        var samples: [CandidateReport.Sample] = []
    }

    static let idPrefix = "candidate/"
    /// The maximum number of distinct errors to store as samples. Further errors are only counted.
    static let mostSamples = 20

    let text: JSONText
    let created: Timetoken
    /// The JSON of the candidate's record, used to detect whether the record has changed.
    let body: JSONText
    /// The compiled schema; nil for a stored schema that this gateway cannot compile. Every event is then undecided.
    private let schema: Schema?
    private let counts = Lock(Counts())
    /// The version of the candidate's record; empty before the record is stored.
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

    /// Reads the JSON that `body` printed. If the schema of the record cannot be compiled, every event is undecided.
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

    /// Returns the name of the event type whose candidate is stored under this key; nil for the key of any other
    /// setting.
    static func typeName(of key: RecordKey) -> ExactText? {
        key.id.hasPrefix(idPrefix) ? ExactText(key.id.dropFirst(idPrefix.count)) : nil
    }

    /// Checks an appended event against the candidate and counts the result.
    ///
    /// - Parameter work: the validation budget for candidates, separate from the budget of the request that sent the
    ///   event. When the budget is exhausted, the event counts as undecided.
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
    /// Returns true when both errors report a violation of the same keyword of the schema. Their locations in the
    /// payload may differ.
    fileprivate func isAlike(_ other: Self) -> Bool { schema == other.schema && keyword == other.keyword }
}

/// The results of checking appended events against a candidate on this node, since the candidate was set or the node
/// started.
public struct CandidateReport: Sendable {
    /// An error that the candidate finds in events, and the number of events in which it was the first error found.
    public struct Sample: Sendable {
        /// The error and its location in the payload.
        public var fault: ChatError.FieldError
        /// The number of events in which this error was the first error found.
        public var count: Int
        /// The id of the first event that has this error as its first one.
        public var event: String
    }

    /// The name of the event type.
    public var type: String
    /// The candidate schema.
    public var schema: JSONText
    /// The time at which the candidate was set.
    public var created: Timetoken
    /// The number of events that the candidate accepted.
    public var accepted: Int
    /// The number of events that the candidate rejected.
    public var refused: Int
    /// The number of events that were neither accepted nor rejected, because the check reached a limit or the event
    /// contains numbers beyond 64 bits.
    public var undecided: Int
    /// The first distinct errors, at most 20.
    public var samples: [Sample]
    /// The version of the candidate's record. The version does not change when the counts change.
    public var etag: String
}
