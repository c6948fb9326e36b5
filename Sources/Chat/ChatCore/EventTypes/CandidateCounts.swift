import ChatModel
import JSON
import Locking

/// The results of checking events against a candidate, in numbers. Each node counts the events that it has appended,
/// and adds its counts every few seconds to a record that all nodes share.
struct CandidateCounts: Sendable, Equatable {
    private static let idPrefix = "candidate-counts/"
    /// The maximum number of distinct errors to store as samples. Further errors are only counted.
    static let mostSamples = 20

    var accepted = 0
    var refused = 0
    var undecided = 0
    var samples: [CandidateReport.Sample] = []

    var isEmpty: Bool { self == CandidateCounts() }

    /// Counts a rejected event whose first error is `fault`.
    mutating func addFailure(_ fault: ChatError.FieldError?, event: String) {
        refused += 1
        if let fault { add(CandidateReport.Sample(fault: fault, count: 1, event: event)) }
    }

    /// Adds the counts of other events.
    mutating func add(_ other: CandidateCounts) {
        accepted += other.accepted
        refused += other.refused
        undecided += other.undecided
        for sample in other.samples { add(sample) }
    }

    private mutating func add(_ sample: CandidateReport.Sample) {
        if let known = samples.firstIndex(where: { $0.fault.isAlike(sample.fault) }) {
            samples[known].count += sample.count
        } else if samples.count < Self.mostSamples {
            samples.append(sample)
        }
    }
}

// MARK: - Storage

extension CandidateCounts {
    static func recordKey(of type: String, in app: AppID) -> RecordKey {
        RecordKey(.setting, idPrefix + type, in: app)
    }

    /// Returns the name of the event type whose counts are stored under this key; nil for the key of any other setting.
    static func typeName(of key: RecordKey) -> ExactText? {
        key.id.hasPrefix(idPrefix) ? ExactText(key.id.dropFirst(idPrefix.count)) : nil
    }

    /// Reads stored counts. Returns nil for the counts of another candidate.
    init?(_ record: Record, of candidate: Candidate) {
        guard let root = try? JSONDocument(record.body).root,
            root["candidate"]?.string == candidate.created.description
        else { return nil }
        func count(_ name: String) -> Int { root[name]?.integer.map { Int($0) } ?? 0 }
        (accepted, refused, undecided) = (count("accepted"), count("refused"), count("undecided"))
        samples = (root["samples"]?.elements ?? []).compactMap { sample in
            guard let fault = sample["fault"], let count = sample["count"]?.integer, let event = sample["event"]?.string
            else { return nil }
            return CandidateReport.Sample(fault: ChatError.FieldError(fault), count: Int(count), event: event)
        }
    }

    func body(of candidate: Candidate) -> JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("candidate", candidate.created.description)
            writer.member("accepted", accepted)
            writer.member("refused", refused)
            writer.member("undecided", undecided)
            writer.key("samples")
            writer.beginArray()
            for sample in samples {
                writer.beginObject()
                writer.key("fault")
                sample.fault.print(to: &writer)
                writer.member("count", sample.count)
                writer.member("event", sample.event)
                writer.endObject()
            }
            writer.endArray()
            writer.endObject()
        }
    }
}

extension EventTypes {
    /// The time between two writes of the counts of candidates.
    private static let countsPause: Duration = .seconds(5)

    /// Writes the counts of candidates to the store, at most every five seconds and only after new events, until
    /// cancelled.
    func keepCountsStored() async {
        for await _ in candidateSignal.stream {
            await writeCounts()
            // If the task is cancelled during the sleep, the sequence ends too. So the error of the sleep is ignored.
            try? await Task.sleep(for: Self.countsPause)
        }
    }

    /// Adds the counts of this node to the stored counts of all candidates. If the store rejects a write, the next call
    /// tries again.
    func writeCounts() async {
        let candidates = contents.withLock { contents in
            contents.flatMap { app, types in
                types.candidates.map { (app: app, name: $0.key.text, candidate: $0.value) }
            }
        }
        for (app, name, candidate) in candidates {
            guard let new = candidate.beginWrite() else { continue }
            let (key, owner) = (CandidateCounts.recordKey(of: name, in: app), Candidate.recordKey(of: name, in: app))
            do throws(ChatError) {
                let decided = try await directory.decide([key, owner]) { snapshot in
                    // The counts end with their candidate.
                    guard snapshot[owner]?.body == candidate.body else { return Decision(()) }
                    var counts = new
                    if let stored = snapshot[key].flatMap({ CandidateCounts($0, of: candidate) }) { counts.add(stored) }
                    return Decision((), changes: [RecordChange(key, body: counts.body(of: candidate))])
                }
                candidate.endWrite(stored: decided.records.first)
            } catch {
                candidate.retractWrite()
                candidateSignal.continuation.yield()
            }
        }
    }
}
