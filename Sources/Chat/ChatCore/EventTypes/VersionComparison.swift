import ChatModel
import JSON
import JSONSchema

/// Whether a new version of a schema may follow an earlier one.
struct VersionComparison {
    let rule: CompatibilityRule
    let type: String
    /// The number the new version would have.
    let number: Int

    /// - Throws: `.conflict` with the slug `incompatible_schema`: the faults are the breaking changes, the members hold the
    ///   earlier version and, when there is a proof, a witness that one version accepts and the other refuses.
    func demand(_ new: Schema, follows old: Schema, number earlier: Int) throws(ChatError) {
        guard let mode = SchemaComparison.Mode(rawValue: rule.mode.rawValue) else { return }
        let comparison = SchemaComparison(old: old, new: new, mode: mode, isLenient: rule.isLenient)
        switch comparison.verdict {
        case .yes: return
        case .no(let witness): throw refusal(comparison, earlier, witness)
        case .unknown: throw refusal(comparison, earlier, nil)
        }
    }

    /// The time for comparing was over before this version and the ones before it.
    func unfinished(at earlier: Int, limit: Duration) -> ChatError {
        undecided(
            "version \(number) of '\(type)' could not be compared with version \(earlier) and those before it within "
                + "\(limit.components.seconds) seconds", earlier)
    }

    /// An error met with an earlier version: also one that says why that cannot be compared with.
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
                detail: breaks.isEmpty ? "\(change.change); what that breaks cannot be decided" : change.change)
        }
        let claim =
            witness == nil
            ? "it cannot be proved that version \(number) of '\(type)' is \(rule.mode.rawValue) compatible"
            : "version \(number) of '\(type)' would not be \(rule.mode.rawValue) compatible"
        let place = faults.first.map { ": \($0.pointer): \($0.detail)" } ?? ""
        var error = ChatError(
            .conflict, "\(claim) with version \(earlier)\(place)", slug: "incompatible_schema")
        error.faults = faults
        error.members = members(earlier)
        if let witness { error.members.append(("witness", witness)) }
        return error
    }
}
