public import ChatModel
public import JSON
import Locking

extension ChatAccess {
    private var types: EventTypes { service.eventTypes }

    /// Sets the candidate schema of a type. From now on, stored events of the type are checked against it, and the
    /// results are counted (`candidateReport`). Replaces an earlier candidate and resets the counts.
    ///
    /// - Throws: `.forbidden` without the scope `manage`; `.notFound` for a type that is not declared; `.tooLarge` for
    ///   a schema above the size limit; `.malformed` for text that is not JSON; `.invalid` with the slug
    ///   `schema_invalid` for a schema that does not compile; the errors of `RecordChange.Precondition.check`.
    public func setCandidate(
        _ schema: JSONText, for name: String, precondition: RecordChange.Precondition = .none
    ) async throws(ChatError) -> (report: CandidateReport, isNew: Bool) {
        try requireManaging(name)
        return try await types.compileQueue.run(for: app) { () async throws(ChatError) in
            _ = try await newestType(name)
            let compiled = try types.check.compile(schema)
            try types.requireCapacity(for: compiled, besides: .candidate, of: name, in: app)
            let candidate = Candidate(schema, compiled, created: types.clock.now)
            let key = Candidate.recordKey(of: name, in: app)
            // The compile queue runs one declaration at a time, so no other declaration of this node changes the
            // candidate here.
            let isNew = try await types.directory.read(key) == nil
            var prepared = EventTypes.Prepared()
            prepared.candidates[key] = (candidate.body, candidate)
            do throws(ChatError) {
                _ = try await types.write(
                    [RecordChange(key, body: candidate.body, precondition: precondition)], prepared)
            } catch {
                // The directory throws `.notFound` for a missing candidate. Report the failed precondition instead,
                // because the type itself exists.
                guard error.code == .notFound else { throw error }
                try precondition.check(nil)
                throw error
            }
            return (candidate.report(of: name), isNew)
        }
    }

    /// Returns the results of checking events against a type's candidate.
    ///
    /// Requires the same scope as setting a candidate, because the errors quote events of other senders.
    ///
    /// - Throws: `.forbidden` without the scope `manage`; `.notFound` when the type has no candidate.
    public func candidateReport(of name: String) throws(ChatError) -> CandidateReport {
        try caller.require(.manage)
        try caller.require(type: name)
        guard let candidate = types.candidate(of: name, in: app) else { throw EventTypes.unknownCandidate }
        return candidate.report(of: name)
    }

    /// Removes the candidate of a type. No version is added.
    ///
    /// - Throws: `.forbidden` without the scope `manage`; `.notFound` when the type has no candidate; `.stale` when the
    ///   version of the candidate's record is not `etag`.
    public func dropCandidate(of name: String, ifMatch etag: String? = nil) async throws(ChatError) {
        try requireManaging(name)
        do {
            let precondition = etag.map { RecordChange.Precondition.etag($0) } ?? .present
            _ = try await types.write([
                RecordChange(Candidate.recordKey(of: name, in: app), body: nil, precondition: precondition),
                RecordChange(CandidateCounts.recordKey(of: name, in: app), body: nil),
            ])
        } catch {
            throw error.code == .notFound ? EventTypes.unknownCandidate : error
        }
    }

    /// Makes the candidate the newest version of its type, and removes the candidate in the same commit. Another
    /// candidate that was set meanwhile is not removed.
    ///
    /// - Parameter forced: see `SchemaProposal.forced`.
    /// - Throws: the errors of `addVersion`; `.notFound` when there is no candidate.
    public func promoteCandidate(
        of name: String, forced: String? = nil
    ) async throws(ChatError) -> (version: SchemaVersion, isNew: Bool) {
        try requireManaging(name)
        let candidate = try await service.confirmingRefusal { () throws(ChatError) in
            guard let candidate = types.candidate(of: name, in: app) else { throw EventTypes.unknownCandidate }
            return candidate
        }
        var proposal = SchemaProposal(schema: candidate.text)
        proposal.forced = forced
        return try await add(proposal, to: name, ending: candidate)
    }
}

extension EventTypes {
    func candidate(of name: String, in app: AppID) -> Candidate? {
        contents.withLock { $0[app]?.candidates[ExactText(name)] }
    }

    /// Returns the changes that remove a candidate's record and its counts; empty when the record is gone or belongs to
    /// another candidate.
    func ending(
        _ candidate: Candidate, of name: String, in app: AppID
    ) async throws(ChatError) -> [RecordChange] {
        let key = Candidate.recordKey(of: name, in: app)
        guard let record = try await directory.read(key), record.body == candidate.body else { return [] }
        return [
            RecordChange(key, body: nil, precondition: .etag(record.etag)),
            RecordChange(CandidateCounts.recordKey(of: name, in: app), body: nil),
        ]
    }

    static let unknownCandidate = ChatError(
        .notFound, "the event type has no schema on trial; start one with PUT /v1/event-types/{type}/candidate")
}
