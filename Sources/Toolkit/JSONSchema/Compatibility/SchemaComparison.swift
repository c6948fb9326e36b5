public import JSON

/// What changed between two versions of a schema, and whom it breaks.
///
/// *Backward* means that the new version accepts whatever the old one accepted; *forward* is the reverse. Either is a
/// question of inclusion, which has no general answer, so there are three: yes, no with a witness, unknown. A yes is
/// proved; a witness has been tried on both versions; everything else is unknown.
///
/// The proof (`Inclusion`) walks the rules of both versions, kind by kind of value; references are followed as they are
/// met, and a pair that is met again inside itself is taken to hold, which is sound because the walk has gone deeper into
/// the value meanwhile.
public struct SchemaComparison: Sendable {
    /// What is asked.
    public enum Mode: String, Sendable, CaseIterable { case backward, forward, full }

    /// Whom a change breaks: `backward`, readers with the new version of old data; `forward`, readers with the old
    /// version of new data.
    public enum Direction: String, Sendable, CaseIterable { case backward, forward }

    /// The answer.
    public enum Compatibility: Sendable, Equatable {
        case yes
        /// One version accepts the witness, the other refuses it.
        case no(witness: JSONText)
        case unknown
    }

    /// One place where the versions differ in what they accept.
    public struct Change: Sendable, Equatable {
        /// Where in the schema: `#/properties/a/minimum`. In the new version for what became narrower, in the old one for
        /// what became wider or was dropped; a place in another document has its URI in front.
        public var pointer: String
        /// What changed, in a few words.
        public var change: String
        /// Whom it certainly breaks: there is a witness.
        public var breaks: [Direction]
        /// Whom it may break: neither a proof nor a witness was found.
        public var undecided: [Direction]
    }

    public let verdict: Compatibility
    /// In the order of the schemas, what became narrower first. Bounded; changes that alter nothing about what is
    /// accepted (titles, examples, order) are not listed.
    public let changes: [Change]

    /// Compares two schemas read with the same options.
    ///
    /// - Parameter isLenient: a member that one version declares as optional and the other, being open, does not mention
    ///   counts as compatible, although data of the other may hold something else under that name.
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
    /// - Throws: when one of them is no schema.
    public init(
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

    /// One change for each place, whichever direction noticed it.
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
