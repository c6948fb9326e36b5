public import JSON

/// The differences between two versions of a schema, and the readers that they break.
///
/// *Backward* compatible means that the new version accepts every value that the old one accepted; *forward* compatible
/// is the reverse. Both are questions of inclusion, which cannot always be decided, so there are three results: yes, no
/// with a witness, and unknown. A yes is proved, a witness has been tried on both versions, and everything else is
/// unknown.
///
/// The proof (`Inclusion`) walks the rules of both versions separately for each kind of value and follows references as
/// they occur. A pair of rules that recurs inside itself is assumed to hold. This is sound because the walk has gone
/// deeper into the value in between.
public struct SchemaComparison: Sendable {
    /// The directions to compare.
    public enum Mode: String, Sendable, CaseIterable { case backward, forward, full }

    /// The readers that a change breaks: `backward`, readers that use the new version on old data; `forward`, readers
    /// that use the old version on new data.
    public enum Direction: String, Sendable, CaseIterable { case backward, forward }

    /// The result of a comparison.
    public enum Compatibility: Sendable, Equatable {
        case yes
        /// One version accepts the witness and the other rejects it.
        case no(witness: JSONText)
        case unknown
    }

    /// One place where the versions differ in what they accept.
    public struct Change: Sendable, Equatable {
        /// The location in the schema, as in `#/properties/a/minimum`: in the new version for what became narrower, in
        /// the old one for what became wider or was removed. A location in another document starts with its URI.
        public var pointer: String
        /// A short description of the change.
        public var change: String
        /// The directions that the change certainly breaks, as a witness shows.
        public var breaks: [Direction]
        /// The directions that the change may break, with neither a proof nor a witness.
        public var undecided: [Direction]
    }

    /// The result for the requested mode.
    public let verdict: Compatibility
    /// The changes in the order of the schemas, narrower ones first. Their number is limited. Changes that do not
    /// affect what is accepted (titles, examples, order) are not listed.
    public let changes: [Change]

    /// Compares two schemas that were compiled with the same options.
    ///
    /// - Parameter isLenient: true to count as compatible a member that one version declares as optional and the other,
    ///   being open, does not mention. Data of the other version may hold a different value under that name.
    public init(old: Schema, new: Schema, mode: Mode, isLenient: Bool = false) {
        let pair = VersionPair(old: old, new: new)
        let findings = Direction.allCases.map { Finding(pair, $0, isLenient: isLenient) }
        changes = Self.merged(findings)
        switch mode {
        case .backward: verdict = findings[0].compatibility
        case .forward: verdict = findings[1].compatibility
        case .full: verdict = Self.both(findings[0].compatibility, findings[1].compatibility)
        }
    }

    /// Compiles and compares two schema documents.
    ///
    /// - Throws: `SchemaError` when one of them is not a valid schema.
    init(
        old: JSONDocument, new: JSONDocument, mode: Mode, options: SchemaOptions = SchemaOptions(),
        isLenient: Bool = false
    ) throws(SchemaError) {
        self.init(
            old: try Schema(old, options: options), new: try Schema(new, options: options), mode: mode,
            isLenient: isLenient)
    }

    private static func both(_ left: Compatibility, _ right: Compatibility) -> Compatibility {
        switch (left, right) {
        case (.yes, .yes): .yes
        case (.no, _): left
        case (_, .no): right
        default: .unknown
        }
    }

    /// Merges the changes of both directions, so that each location has one.
    private static func merged(_ findings: [Finding]) -> [Change] {
        var changes: [Change] = []
        var known: [String: Int] = [:]
        for change in findings.flatMap(\.changes) {
            guard let index = known[change.pointer] else {
                known[change.pointer] = changes.count
                changes.append(change)
                continue
            }
            if !changes[index].change.contains(change.change) { changes[index].change += "; " + change.change }
            changes[index].breaks += change.breaks.filter { !changes[index].breaks.contains($0) }
            changes[index].undecided += change.undecided.filter { !changes[index].undecided.contains($0) }
        }
        return changes
    }
}

/// The result of one direction of a comparison: its verdict, and its changes with tried witnesses.
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

/// Checks whether a value is a witness.
private struct WitnessCheck {
    let accepting: Schema
    let refusing: Schema

    /// True when one version accepts the value and the other rejects it. An exhausted budget is not a verdict.
    func succeeds(_ text: JSONText) -> Bool {
        // A created sample may be rejected by the parser, and then proves nothing.
        guard let document = try? JSONDocument(text.bytes) else { return false }
        var scratch = Scratch()
        return accepting.verdict(on: document.root, scratch: &scratch) == .valid
            && refusing.verdict(on: document.root, scratch: &scratch) == .invalid
    }
}
