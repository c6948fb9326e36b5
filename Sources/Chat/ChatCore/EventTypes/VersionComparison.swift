import ChatModel
import JSON
import JSONSchema

/// Decides whether a new version of a schema may follow an earlier version.
struct VersionComparison {
    let rule: CompatibilityRule
    let type: String
    /// The number that the new version gets if it is accepted.
    let number: Int

    /// Checks the compatibility of a new schema with an earlier version.
    ///
    /// - Throws: `.conflict` with the slug `incompatible_schema`. The faults of the error are the breaking changes. The
    ///   members of the error contain the number of the earlier version and, when there is a proof, a witness: a value
    ///   that one version accepts and the other rejects.
    func require(_ new: Schema, follows old: Schema, number earlier: Int) throws(ChatError) {
        guard let mode = SchemaComparison.Mode(rawValue: rule.mode.rawValue) else { return }
        let comparison = SchemaComparison(old: old, new: new, mode: mode, isLenient: rule.isLenient)
        switch comparison.verdict {
        case .yes: return
        case .no(let witness): throw refusal(comparison, earlier, witness)
        case .unknown: throw refusal(comparison, earlier, nil)
        }
    }

    /// Returns the error for a comparison that ran out of time before it reached version `earlier`.
    func unfinished(at earlier: Int, limit: Duration) -> ChatError {
        undecided(
            "version \(number) of '\(type)' could not be compared with version \(earlier) and earlier versions within "
                + "\(limit.components.seconds) seconds", earlier)
    }

    /// Returns the error to throw after a comparison with version `earlier` has failed. An error that reports an
    /// incompatibility is returned unchanged. Any other error becomes an error that says why the versions cannot be
    /// compared.
    func explained(_ error: ChatError, at earlier: Int) -> ChatError {
        guard error.slug != "incompatible_schema" else { return error }
        return undecided("version \(earlier) of '\(type)' cannot be compared: \(error.message)", earlier)
    }

    private func undecided(_ message: String, _ earlier: Int) -> ChatError {
        var error = ChatError(.conflict, message, slug: "incompatible_schema")
        error.members = members(earlier)
        return error
    }

    private func members(_ earlier: Int) -> [(name: String, value: JSONText)] {
        [
            ("event_type", JSONText(string: type)), ("compatibility", JSONText(string: rule.text)),
            ("compared_with", JSONText { $0.integer(earlier) }),
        ]
    }

    private func refusal(_ comparison: SchemaComparison, _ earlier: Int, _ witness: JSONText?) -> ChatError {
        let asked: [SchemaComparison.Direction] =
            switch rule.mode {
            case .backward: [.backward]
            case .forward: [.forward]
            case .none, .full: [.backward, .forward]
            }
        let faults = comparison.changes.compactMap { change -> ChatError.FieldError? in
            let breaks = change.breaks.filter(asked.contains)
            let undecided = change.undecided.filter(asked.contains)
            guard let direction = (breaks + undecided).first else { return nil }
            return ChatError.FieldError(
                pointer: change.pointer, keyword: direction.rawValue,
                detail: breaks.isEmpty
                    ? "\(change.change); the effect of this change on the compatibility cannot be decided"
                    : change.change)
        }
        let claim =
            witness == nil
            ? "it cannot be proved that version \(number) of '\(type)' is \(rule.mode.rawValue) compatible"
            : "version \(number) of '\(type)' would not be \(rule.mode.rawValue) compatible"
        let place = faults.first.map { ": \($0.place): \($0.detail)" } ?? ""
        var error = ChatError(
            .conflict, "\(claim) with version \(earlier)\(place)", slug: "incompatible_schema")
        error.faults = faults
        error.members = members(earlier)
        if let witness { error.members.append(("witness", witness)) }
        return error
    }
}
