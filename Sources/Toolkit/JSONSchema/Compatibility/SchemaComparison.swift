public import JSON

/// A comparison of two versions of a schema: their differences, and the readers that the differences break.
///
/// *Backward* compatible means that the new version accepts every value that the old version accepts. *Forward*
/// compatible means the reverse. Neither property can always be decided, so there are three results: yes, no and
/// unknown. A yes is proved. A no has a witness, which is a value that was evaluated with both versions. Every other
/// result is unknown.
///
/// The proof (`Inclusion`) compares the rules of both versions separately for each kind of value and follows
/// references. If a pair of rules occurs again inside its own proof, the inclusion is assumed to be true. This is a
/// valid induction, because the second occurrence concerns a smaller part of the value.
public struct SchemaComparison: Sendable {
    /// The directions to compare.
    public enum Mode: String, Sendable, CaseIterable { case backward, forward, full }

    /// The readers that a change breaks: `backward` are readers that use the new version for old data, and `forward`
    /// are readers that use the old version for new data.
    public enum Direction: String, Sendable, CaseIterable { case backward, forward }

    /// The result of a comparison.
    public enum Compatibility: Sendable, Equatable {
        case yes
        /// One version accepts the witness and the other rejects it.
        case no(witness: JSONText)
        case unknown
    }

    /// One location where the versions accept different values.
    public struct Change: Sendable, Equatable {
        /// The location in the schema, for instance `#/properties/a/minimum`. It is a location in the new version if
        /// the schema became narrower, and in the old version if the schema became wider or a part was removed. A
        /// location in another document starts with the URI of the document.
        public var pointer: String
        /// A short description of the change.
        public var change: String
        /// The directions that the change breaks, proved by a witness.
        public var breaks: [Direction]
        /// The directions that the change may break. There is no proof and no witness for them.
        public var undecided: [Direction]
    }

    /// The result for the requested mode.
    public let verdict: Compatibility
    /// The changes, in the order of the schemas. Changes that make the schema narrower come first. The number of
    /// changes is limited. Changes that do not affect which values are accepted, for instance of titles and examples,
    /// are not listed.
    public let changes: [Change]

    /// Compares two schemas that were compiled with the same options.
    ///
    /// - Parameter isLenient: true to tolerate an optional member that only one version declares, if the other version
    ///   allows unknown members. The difference then counts as compatible. This is not exact, because data of the other
    ///   version may contain a different value in this member.
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
    /// - Throws: `SchemaError` when one of the documents is not a valid schema.
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

    /// Merges the changes of both directions, so that there is one change for each location.
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

/// The result of one direction of a comparison: the verdict and the changes.
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

/// Checks if a value is a witness of an incompatibility.
private struct WitnessCheck {
    let accepting: Schema
    let refusing: Schema

    /// Returns true when the version `accepting` accepts the value and the other version rejects it. False when an
    /// evaluation exceeds its budget.
    func succeeds(_ text: JSONText) -> Bool {
        // A sample that the parser rejects is not a witness.
        guard let document = try? JSONDocument(text.bytes) else { return false }
        var scratch = Scratch()
        return accepting.verdict(on: document.root, scratch: &scratch) == .valid
            && refusing.verdict(on: document.root, scratch: &scratch) == .invalid
    }
}
