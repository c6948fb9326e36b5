public import ChatModel
public import JSON
import Locking

extension ChatAccess {
    private var types: EventTypes { service.eventTypes }

    /// Puts a schema on trial: from now on the type's stored events are held against it, and nothing comes of it but a
    /// count (`candidateReport`). Takes the place of an earlier candidate, and begins to count anew.
    ///
    /// - Throws: `.forbidden`; `.notFound` for a type that is not declared; `.tooLarge`, `.malformed`; `.invalid` with the
    ///   slug `schema_invalid`; as `RecordChange.Precondition.check` says.
    public func setCandidate(
        _ schema: JSONText, for name: String, demand: RecordChange.Precondition = .none
    ) async throws(ChatError) -> (report: CandidateReport, isNew: Bool) {
        try demandManaging(name)
        return try await types.compileQueue.run(for: app) { [types, app] () async throws(ChatError) in
            _ = try types.type(name, in: app)
            let compiled = try types.check.compile(schema)
            try types.demandRoom(for: compiled, besides: .candidate, of: name, in: app)
            let candidate = Candidate(schema, compiled, created: types.clock.now)
            let key = Candidate.recordKey(of: name, in: app)
            // Declarations of an app follow each other here.
            let isNew = try await types.directory.read(key) == nil
            var prepared = EventTypes.Prepared()
            prepared.candidates[key] = (candidate.body, candidate)
            do throws(ChatError) {
                _ = try await types.write([RecordChange(key, body: candidate.body, demand: demand)], prepared)
            } catch {
                // The directory says so of a candidate that is not there; the type is.
                guard error.code == .notFound else { throw error }
                try demand.check(nil)
                throw error
            }
            return (candidate.report(of: name), isNew)
        }
    }

    /// What the candidate of a type would have done. Counts are this node's.
    ///
    /// For those who may set one: faults quote what others sent.
    /// - Throws: `.forbidden` without `manage`; `.notFound` when the type has none.
    public func candidateReport(of name: String) throws(ChatError) -> CandidateReport {
        try caller.demand(.manage)
        try caller.demand(type: name)
        guard let candidate = types.candidate(of: name, in: app) else { throw EventTypes.unknownCandidate }
        return candidate.report(of: name)
    }

    /// Ends the trial without a result.
    ///
    /// - Throws: `.forbidden`, `.notFound`.
    public func dropCandidate(of name: String, ifMatch etag: String? = nil) async throws(ChatError) {
        try demandManaging(name)
        do {
            _ = try await types.write([
                RecordChange(
                    Candidate.recordKey(of: name, in: app), body: nil, demand: etag.map { .etag($0) } ?? .present)
            ])
        } catch {
            throw error.code == .notFound ? EventTypes.unknownCandidate : error
        }
    }

    /// Makes the candidate the newest version of its type, and ends the trial in the same commit. A candidate that others
    /// have set in its place meanwhile stays.
    ///
    /// - Parameter forced: as `SchemaProposal.forced`.
    /// - Throws: as `addVersion`; `.notFound` when there is no candidate.
    public func promoteCandidate(
        of name: String, forced: String? = nil
    ) async throws(ChatError) -> (version: SchemaVersion, isNew: Bool) {
        try demandManaging(name)
        guard let candidate = types.candidate(of: name, in: app) else { throw EventTypes.unknownCandidate }
        var proposal = SchemaProposal(schema: candidate.text)
        proposal.forced = forced
        return try await add(proposal, to: name, ending: candidate)
    }
}

extension EventTypes {
    func candidate(of name: String, in app: AppID) -> Candidate? {
        contents.withLock { $0[app]?.candidates[ExactText(name)] }
    }

    /// The removal of a candidate's record; nothing when it is gone, or that of another candidate.
    func ending(
        _ candidate: Candidate, of name: String, in app: AppID
    ) async throws(ChatError) -> [RecordChange] {
        let key = Candidate.recordKey(of: name, in: app)
        guard let record = try await directory.read(key), record.body == candidate.body else { return [] }
        return [RecordChange(key, body: nil, demand: .etag(record.etag))]
    }

    static let unknownCandidate = ChatError(.notFound, "the event type has no candidate")
}
