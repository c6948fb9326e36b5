import JSON

/// One direction of a comparison: the inclusion, its gaps, and the witnesses that were tried.
struct Finding {
    let compatibility: SchemaComparison.Compatibility
    let changes: [SchemaComparison.Change]

    private static let triedPerGap = 8

    init(_ pair: VersionPair, _ direction: SchemaComparison.Direction, isLenient: Bool) {
        var inclusion = Inclusion(pair, direction, isLenient: isLenient)
        let (narrow, wide) = direction == .backward ? (Side.old, Side.new) : (Side.new, Side.old)
        let holds = inclusion.includes([RuleRef(narrow, 0)], in: RuleRef(wide, 0))
        let gaps = inclusion.gaps
        let trial = WitnessCheck(accepting: pair[narrow].schema, refusing: pair[wide].schema)
        var witness: JSONText?
        var changes: [SchemaComparison.Change] = []
        for gap in gaps {
            let found = gap.samples.prefix(Self.triedPerGap).first(where: trial.succeeds)
            witness = witness ?? found
            changes.append(
                SchemaComparison.Change(
                    pointer: gap.pointer, change: gap.text, breaks: found == nil ? [] : [direction],
                    undecided: found != nil || gap.isTolerated ? [] : [direction]))
        }
        if !holds, witness == nil {
            witness = inclusion.variety(of: [RuleRef(narrow, 0)]).first(where: trial.succeeds)
        }
        self.changes = changes
        compatibility = holds ? .yes : witness.map { .no(witness: $0) } ?? .unknown
    }
}

/// Tries a value on both versions.
private struct WitnessCheck {
    let accepting: Schema
    let refusing: Schema

    /// Only what both evaluators say counts: an exhausted budget is no verdict.
    func succeeds(_ text: JSONText) -> Bool {
        // What was made up may still be something that the parser refuses; then it proves nothing.
        guard let document = try? JSONDocument(text.bytes) else { return false }
        var scratch = Scratch()
        return accepting.verdict(on: document.root, scratch: &scratch) == .valid
            && refusing.verdict(on: document.root, scratch: &scratch) == .invalid
    }
}
