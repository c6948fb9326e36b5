public import ChatModel
public import JSON
import JSONSchema
import Locking

/// A candidate schema of an event type. Events of the type are checked against it after they are appended, and only the
/// results are counted. The schema is stored as a setting of the app. The counts start at zero when the candidate is
/// set. They are stored too, and include those of other nodes (``CandidateCounts``).
final class Candidate: Sendable {
    private struct State {
        /// The stored counts of all nodes, and the time at which they were stored.
        var stored = CandidateCounts()
        var storedAt = Timetoken.zero
        /// The counts of this node that are being stored.
        var leaving = CandidateCounts()
        /// The counts of this node that are not stored.
        var new = CandidateCounts()

        var all: CandidateCounts {
            var all = stored
            all.add(leaving)
            all.add(new)
            return all
        }

        mutating func store(_ record: Record, of candidate: Candidate) {
            guard record.updated >= storedAt, let counts = CandidateCounts(record, of: candidate) else { return }
            (stored, storedAt) = (counts, record.updated)
        }
    }

    static let idPrefix = "candidate/"

    let text: JSONText
    let created: Timetoken
    /// The JSON of the candidate's record, used to detect whether the record has changed.
    let body: JSONText
    /// The compiled schema; nil for a stored schema that this gateway cannot compile. Every event is then undecided.
    private let schema: Schema?
    private let state = Lock(State())
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
        guard !work.isTooLarge(event.data.count) else { return count { $0.undecided += 1 } }
        let value = try? JSONDocument(event.data.bytes, limits: JSONLimits(depth: depth)).root
        guard let schema, let value else { return count { $0.undecided += 1 } }
        switch ValidationResult(of: value, by: schema, within: &work, limit: 1) {
        case .valid: count { $0.accepted += 1 }
        case .invalid(let report):
            let fault = report.violations.first.map { ChatError.FieldError($0) }
            count { $0.addFailure(fault, event: event.id) }
        case .exhausted: count { $0.undecided += 1 }
        }
    }

    private func count(_ body: (inout CandidateCounts) -> Void) { state.withLock { body(&$0.new) } }

    func report(of type: String) -> CandidateReport {
        let counts = state.withLock(\.all)
        return CandidateReport(
            type: type, schema: text, created: created, accepted: counts.accepted, refused: counts.refused,
            undecided: counts.undecided, samples: counts.samples, etag: version.withLock(\.self))
    }
}

// MARK: - Storing the counts

extension Candidate {
    /// Returns the counts of this node that are not stored; nil when there are none. Call ``endWrite(stored:)`` or
    /// ``retractWrite()`` afterwards.
    func beginWrite() -> CandidateCounts? {
        state.withLock { state in
            guard !state.new.isEmpty, state.leaving.isEmpty else { return nil }
            (state.leaving, state.new) = (state.new, CandidateCounts())
            return state.leaving
        }
    }

    /// - Parameter stored: the record with the sum; nil when the candidate was removed meanwhile.
    func endWrite(stored record: Record?) {
        state.withLock { state in
            state.leaving = CandidateCounts()
            if let record { state.store(record, of: self) }
        }
    }

    func retractWrite() {
        state.withLock { state in
            state.leaving.add(state.new)
            (state.new, state.leaving) = (state.leaving, CandidateCounts())
        }
    }

    /// Takes over the counts that any node has stored.
    func store(_ record: Record) { state.withLock { $0.store(record, of: self) } }
}

extension ChatError.FieldError {
    /// Returns true when both errors report a violation of the same keyword of the schema. Their locations in the
    /// payload may differ.
    func isAlike(_ other: Self) -> Bool { schema == other.schema && keyword == other.keyword }
}

/// The results of checking appended events against a candidate, since the candidate was set. The events of other nodes
/// are included after a few seconds.
public struct CandidateReport: Sendable {
    /// An error that the candidate finds in events, and the number of events in which it was the first error found.
    public struct Sample: Sendable, Equatable {
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
