package import ChatModel
import JSON

/// The changes of records that one write performs, after all preconditions have been checked.
package struct RecordPlan: Sendable {
    /// The change of one record.
    package enum Step: Sendable {
        case put(Record)
        case remove(Record)
    }

    package private(set) var steps: [Step]
    /// The records after the write, one for each change that was requested.
    package private(set) var results: [Record]
    /// The etag of all new and changed records of this write.
    package let tag: Int64
    private let etag: String

    /// Checks all preconditions against the stored records and returns the plan of the write.
    ///
    /// - Parameters:
    ///   - tag: the etag of all new and changed records.
    ///   - now: the update time of all new and changed records.
    ///   - stored: returns the stored record with a key; nil when there is none.
    /// - Returns: the plan, or the error of the first change whose precondition is not satisfied.
    package static func make<Failure: Error>(
        _ changes: [RecordChange], tag: Int64, now: Timetoken, stored: (RecordKey) throws(Failure) -> Record?
    ) throws(Failure) -> Result<RecordPlan, ChatError> {
        let etag = ETag.text(tag)
        var results: [Record] = []
        var steps: [Step] = []
        // The records that earlier changes of this call create or replace; nil for records that they remove.
        var made: [RecordKey: Record?] = [:]
        for change in changes {
            let current: Record? =
                if let record = made[change.key] { record } else { try stored(change.key) }
            if let refusal = change.refusal(current) { return .failure(refusal) }
            guard let body = change.body else {
                if let current { steps.append(.remove(current)) }
                made[change.key] = .some(nil)
                results.append(current ?? change.nothing)
                continue
            }
            if let current, current.body == body, current.parent == change.parent {
                results.append(current)
                continue
            }
            let record = Record(key: change.key, parent: change.parent, body: body, etag: etag, updated: now)
            steps.append(.put(record))
            made[change.key] = record
            results.append(record)
        }
        return .success(RecordPlan(steps: steps, results: results, tag: tag, etag: etag))
    }

    /// Returns the plan with `moment` as the update time of the changed records.
    package func stamped(_ moment: Timetoken) -> RecordPlan {
        var plan = self
        for index in steps.indices {
            guard case .put(var record) = steps[index] else { continue }
            record.updated = moment
            plan.steps[index] = .put(record)
        }
        for index in results.indices where results[index].etag == etag { plan.results[index].updated = moment }
        return plan
    }
}

extension RecordChange {
    /// Returns the error if the current record does not satisfy the precondition of this change; nil otherwise.
    fileprivate func refusal(_ current: Record?) -> ChatError? {
        var refusal: ChatError
        switch precondition {
        case .none: return nil
        case .absent:
            guard current != nil else { return nil }
            refusal = ChatError(.conflict, "'\(key.id)' already exists")
        case .present:
            guard current == nil else { return nil }
            refusal = ChatError(.notFound, "'\(key.id)' does not exist")
        case .etag(let etag):
            guard current?.etag != etag else { return nil }
            refusal =
                current == nil
                ? ChatError(.notFound, "'\(key.id)' does not exist")
                : ChatError(.stale, "'\(key.id)' has changed since it was read; read it again, and repeat the change")
        }
        refusal.current = current
        return refusal
    }

    /// The result of a change that removes a record that does not exist.
    fileprivate var nothing: Record { Record(key: key, parent: parent, body: .null, etag: "", updated: .zero) }
}
