import ChatModel
import JSON
import JSONSchema
import Locking

/// The event types of all apps, with the newest schema of each compiled, so that an emit is checked without waiting.
///
/// The directory is the truth; this follows it. What is declared on this node counts when the call returns, on another
/// within a second. Callers come through the verbs of `ChatAccess`.
public final class EventTypes: Sendable {
    struct Entry {
        var type: EventType
        /// The newest version that is compiled: on another node than its declaration's, for a moment the one before.
        var compiled: CompiledVersion?
        /// Nil while there is nothing to hold payloads against.
        var validator: SchemaValidator?
    }

    struct CompiledVersion: Sendable {
        let number: Int
        /// Nil for a stored version that this gateway cannot compile.
        let schema: Schema?
    }

    struct AppTypes {
        var entries: [ExactText: Entry] = [:]
        var candidates: [ExactText: Candidate] = [:]

        /// Leaves the one that is there if it is the same: it has counts.
        mutating func put(_ candidate: Candidate, for name: ExactText) {
            if candidates[name]?.body != candidate.body { candidates[name] = candidate }
        }
    }

    let directory: any Directory
    let log: any EventLog
    let keyring: Keyring
    private let liveLimits: LiveLimits
    var limits: Limits { liveLimits.current }
    let clock: WallClock
    let mirror: RecordMirror
    let compileQueue = CompileQueue()
    /// Runs the checks of payloads that take long, apart from the declarations, which take far longer.
    let judgements = CompileQueue()
    let contents = Lock<[AppID: AppTypes]>([:])
    let violations = ViolationCounters()
    let unusableObservers = Lock<[@Sendable (UnusableVersion) -> Void]>([])

    init(engine: any Engine, keyring: Keyring, limits: LiveLimits, clock: WallClock) {
        directory = engine.directory
        log = engine.log
        self.keyring = keyring
        liveLimits = limits
        self.clock = clock
        mirror = RecordMirror([.app, .eventType, .setting], of: engine.directory)
    }

    /// For what is to be declared.
    var check: SchemaCheck { SchemaCheck(limits: limits) }
    /// For what was declared.
    var storedCheck: SchemaCheck { SchemaCheck(limits: limits, isOfStored: true) }

    // MARK: Reading

    /// Whether a name is one of the gateway's own, or kept for one.
    static func isBuiltIn(_ name: String) -> Bool {
        BuiltInTypes.isReserved(name) || BuiltInCatalogue.named(name) != nil
    }

    /// - Throws: `.notFound`.
    func type(_ name: String, in app: AppID) throws(ChatError) -> EventType {
        if let builtIn = BuiltInCatalogue.named(name) { return EventType(builtIn) }
        guard let entry = entry(name, in: app) else { throw Self.unknown }
        return entry.type
    }

    func entry(_ name: String, in app: AppID) -> Entry? {
        contents.withLock { $0[app]?.entries[ExactText(name)] }
    }

    /// The types an app has declared, in no order.
    func declared(in app: AppID) -> [EventType] {
        contents.withLock { contents in (contents[app]?.entries.values).map { $0.map(\.type) } ?? [] }
    }

    func validator(of name: String, in app: AppID) -> SchemaValidator? {
        BuiltInValidators.all[ExactText(name)] ?? entry(name, in: app)?.validator
    }

    static let unknown = ChatError(.notFound, "no such event type")
    static let unknownVersion = ChatError(.notFound, "the event type has no such version")
    static let stale = ChatError(.stale, "the event type has changed since it was read")
}

extension EventTypes {
    // MARK: The gate

    /// Holds a payload against the newest schema of its type. Every way in passes here (`product.md` 6).
    ///
    /// - Parameter work: what is left of the request's; on the loop the answer counts only if nothing was put off.
    /// - Returns: what accepted it, nil when nothing was to be checked or the mode lets it pass; and how long such events
    ///   stay, where the type says so.
    /// - Throws: as `SchemaValidator.admit`; `.invalid` with the slug `undeclared_type` where the app demands declared types.
    func admit(
        _ emission: Emission, in app: AppID, within work: inout ValidationBudget
    ) throws(ChatError) -> (schema: SchemaReference?, retention: Duration?) {
        let type = emission.type
        if emission.allowsBuiltInType, let validator = BuiltInValidators.all[ExactText(type)] {
            return (try validator.admit(emission.data, parsed: emission.value, within: &work), nil)
        }
        guard let entry = entry(type, in: app) else {
            // An event without a type has none that is declared.
            guard keyring.requiresDeclaredTypes(app), type == BuiltInTypes.custom || !Self.isBuiltIn(type) else {
                return (nil, nil)
            }
            throw ChatError(
                .invalid, "the event type '\(type)' is not declared, and this app takes declared types only",
                slug: "undeclared_type")
        }
        return (
            try entry.validator?.admit(emission.data, parsed: emission.value, within: &work),
            entry.type.settings.retention
        )
    }

    /// What is moved here from elsewhere is held against the catalogue, on which its readers rely, and against no schema of the
    /// app's own: what was said was said.
    ///
    /// - Returns: how long the app keeps events of the type; nil where it does not say.
    func admit(
        moved emission: Emission, in app: AppID, within work: inout ValidationBudget
    ) throws(ChatError) -> Duration? {
        guard emission.allowsBuiltInType else { return entry(emission.type, in: app)?.type.settings.retention }
        _ = try BuiltInValidators.all[ExactText(emission.type)]?.admit(emission.data, parsed: nil, within: &work)
        return nil
    }

    /// Holds a report of the gateway's own against the catalogue.
    func admit(report type: String, _ data: JSONText) throws(ChatError) {
        var work = ValidationBudget()
        _ = try BuiltInValidators.all[ExactText(type)]?.admit(data, parsed: nil, within: &work)
    }

    /// Looks at what was stored: shadows candidates, and notes for the operators what passed although it violates its
    /// schema.
    ///
    /// - Returns: the same outcome.
    @inline(never)  // As `ChatAccess.admit`: what a waiting task holds stays small.
    func seen(_ outcome: AppendOutcome) -> AppendOutcome {
        guard outcome.repeatedNote == nil else { return outcome }
        var work = ValidationBudget.beside
        for appended in outcome.events where !appended.isDuplicate { look(at: appended.event, within: &work) }
        return outcome
    }

    private func look(at event: Event, within work: inout ValidationBudget) {
        let name = ExactText(event.type)
        let (candidate, validator) = contents.withLock { contents -> (Candidate?, SchemaValidator?) in
            guard let app = contents[event.channel.app] else { return (nil, nil) }
            return (app.candidates[name], app.entries[name]?.validator)
        }
        candidate?.look(at: event, depth: limits.jsonDepth, within: &work)
        if let validator, validator.mode == .warn, event.draft.schema == nil { violations.note(event) }
    }
}

/// The work that one request may still have done to hold payloads against schemas, however many events it brings.
public struct ValidationBudget: Sendable {
    var budget: EvaluationBudget
    /// Whether it is done on the loop, where everybody waits for it: then only what is quickly accepted is judged, and
    /// anything else is put off.
    let isOnLoop: Bool
    /// Whether something has to be judged again, away from the loop.
    var isPutOff = false

    /// All that a request may have done: steps and patterns as for one value, ten steps more for each byte of a batch, and
    /// some 40 ms of reasons.
    public init() {
        let limits = SchemaLimits()
        budget = EvaluationBudget(
            steps: limits.steps, bytes: limits.payloadBytes, patternSteps: limits.patternSteps,
            reportSteps: limits.steps * 2 / 5)
        isOnLoop = false
    }

    /// The part that the loop does: a millisecond or two at most, enough for a small body under an ordinary schema.
    static let onLoop = ValidationBudget(
        budget: EvaluationBudget(steps: 20_000, bytes: 64 * 1024, patternSteps: 20_000, reportSteps: 0))

    /// The work for candidates, beside the request that brought an event: a few reasons as well.
    static let beside = ValidationBudget(
        budget: EvaluationBudget(steps: 20_000, bytes: 64 * 1024, patternSteps: 20_000, reportSteps: 1_000))

    private init(budget: EvaluationBudget) {
        self.budget = budget
        isOnLoop = true
    }

    /// Whether a payload that has to be parsed first is too much for the loop.
    func isTooLarge(_ bytes: Int) -> Bool { isOnLoop && bytes > budget.bytes }
}

extension EventTypes {
    /// Does work with schemas that may take long: away from the loop, one app's after another's.
    func judge<Result: Sendable>(
        for app: AppID, _ work: @Sendable () async throws(ChatError) -> Result
    ) async throws(ChatError) -> Result {
        try await judgements.run(for: app, work)
    }
}
