import ChatModel
import JSON
import JSONSchema
import Locking

/// The event types of all apps, with the newest schema of each compiled, so that an emit is validated without waiting.
///
/// The directory is authoritative; this follows it. A declaration takes effect on this node before the call returns,
/// and on other nodes within a second. Callers use the methods of `ChatAccess`.
public final class EventTypes: Sendable {
    struct Entry {
        var type: EventType
        /// The newest compiled version. On a node other than the declaring one it is briefly the version before.
        var compiled: CompiledVersion?
        /// Nil when the type's payloads are not validated.
        var validator: SchemaValidator?
    }

    struct CompiledVersion: Sendable {
        let number: Int
        /// The compiled schema; nil for a stored version that this gateway cannot compile.
        let schema: Schema?
    }

    struct AppTypes {
        var entries: [ExactText: Entry] = [:]
        var candidates: [ExactText: Candidate] = [:]

        /// Sets a candidate. An existing candidate with the same body is kept, because it has counts.
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
    /// Runs validations that take long, separately from the declarations, which take far longer.
    let validationQueue = CompileQueue()
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

    /// The check of a schema that is being declared.
    var check: SchemaCheck { SchemaCheck(limits: limits) }
    /// The check of a stored schema.
    var storedCheck: SchemaCheck { SchemaCheck(limits: limits, isOfStored: true) }

    // MARK: Reading

    /// True when a name is one of the gateway's own types, or reserved for one.
    static func isBuiltIn(_ name: String) -> Bool {
        BuiltInTypes.isReserved(name) || BuiltInCatalogue.named(name) != nil
    }

    /// Returns a declared or built-in type.
    ///
    /// - Throws: `.notFound`.
    func type(_ name: String, in app: AppID) throws(ChatError) -> EventType {
        if let builtIn = BuiltInCatalogue.named(name) { return EventType(builtIn) }
        guard let entry = entry(name, in: app) else { throw Self.unknown }
        return entry.type
    }

    func entry(_ name: String, in app: AppID) -> Entry? {
        contents.withLock { $0[app]?.entries[ExactText(name)] }
    }

    /// The types that an app has declared, in no particular order.
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
    // MARK: Validation

    /// Validates a payload against the newest schema of its type. Every interface uses it.
    ///
    /// - Parameter work: the remaining validation budget of the request. On the loop, the result counts only if nothing
    ///   was postponed.
    /// - Returns: the schema that accepted the payload, nil when nothing was checked or the mode permits the violation;
    ///   and the retention of such events, when the type sets one.
    /// - Throws: as `SchemaValidator.admit`; `.invalid` with the slug `undeclared_type` when the app requires declared
    ///   types.
    func admit(
        _ draft: EventDraft, in app: AppID, within work: inout ValidationBudget
    ) throws(ChatError) -> (schema: SchemaReference?, retention: Duration?) {
        let type = draft.type
        if draft.allowsBuiltInType, let validator = BuiltInValidators.all[ExactText(type)] {
            return (try validator.admit(draft.data, parsed: draft.parsedData, within: &work), nil)
        }
        guard let entry = entry(type, in: app) else {
            // An event without a type counts as undeclared.
            guard keyring.requiresDeclaredTypes(app), type == BuiltInTypes.custom || !Self.isBuiltIn(type) else {
                return (nil, nil)
            }
            throw ChatError(
                .invalid, "the event type '\(type)' is not declared, and this app accepts declared types only",
                slug: "undeclared_type")
        }
        return (
            try entry.validator?.admit(draft.data, parsed: draft.parsedData, within: &work),
            entry.type.settings.retention
        )
    }

    /// Validates an imported event. It is checked against the catalogue, on which readers rely, but not against the
    /// app's own schemas, because past events cannot be changed.
    ///
    /// - Returns: the type's retention; nil when it sets none.
    func admit(
        imported draft: EventDraft, in app: AppID, within work: inout ValidationBudget
    ) throws(ChatError) -> Duration? {
        guard draft.allowsBuiltInType else { return entry(draft.type, in: app)?.type.settings.retention }
        _ = try BuiltInValidators.all[ExactText(draft.type)]?.admit(draft.data, parsed: nil, within: &work)
        return nil
    }

    /// Validates a report of the gateway itself against the catalogue.
    func admit(report type: String, _ data: JSONText) throws(ChatError) {
        var work = ValidationBudget()
        _ = try BuiltInValidators.all[ExactText(type)]?.admit(data, parsed: nil, within: &work)
    }

    /// Examines stored events: checks them against candidates, and notes violations that the mode permitted for the
    /// reports to operators.
    ///
    /// - Returns: the same outcome.
    @inline(never)  // Keeps the memory of a waiting task small, as in `ChatAccess.checkedAll`.
    func inspectStored(_ outcome: AppendOutcome) -> AppendOutcome {
        guard outcome.repeatedNote == nil else { return outcome }
        var work = ValidationBudget.beside
        for appended in outcome.events where !appended.isDuplicate { inspect(appended.event, within: &work) }
        return outcome
    }

    private func inspect(_ event: Event, within work: inout ValidationBudget) {
        let name = ExactText(event.type)
        let (candidate, validator) = contents.withLock { contents -> (Candidate?, SchemaValidator?) in
            guard let app = contents[event.channel.app] else { return (nil, nil) }
            return (app.candidates[name], app.entries[name]?.validator)
        }
        candidate?.inspect(event, depth: limits.jsonDepth, within: &work)
        if let validator, validator.mode == .warn, event.draft.schema == nil { violations.record(event) }
    }
}

/// The remaining work that one request may spend on validation, however many events it contains.
public struct ValidationBudget: Sendable {
    var budget: EvaluationBudget
    /// True when the work runs on the loop, where every connection waits for it. Then only payloads that are accepted
    /// quickly are decided, and all others are postponed.
    let isOnLoop: Bool
    /// True when some payload must be validated again, away from the loop.
    var isPutOff = false

    /// The full budget of a request: steps and pattern steps as for one value, ten more steps for each byte of a batch,
    /// and about 40 ms for finding reasons.
    public init() {
        let limits = SchemaLimits()
        budget = EvaluationBudget(
            steps: limits.steps, bytes: limits.payloadBytes, patternSteps: limits.patternSteps,
            reportSteps: limits.steps * 2 / 5)
        isOnLoop = false
    }

    /// The part that runs on the loop: one or two milliseconds at most, which is enough for a small body and an
    /// ordinary schema.
    static let onLoop = ValidationBudget(
        budget: EvaluationBudget(steps: 20_000, bytes: 64 * 1024, patternSteps: 20_000, reportSteps: 0))

    /// The budget for candidates, separate from the request that brought an event. It includes a few reasons.
    static let beside = ValidationBudget(
        budget: EvaluationBudget(steps: 20_000, bytes: 64 * 1024, patternSteps: 20_000, reportSteps: 1_000))

    private init(budget: EvaluationBudget) {
        self.budget = budget
        isOnLoop = true
    }

    /// True when a payload that must be parsed first is too large for the loop.
    func isTooLarge(_ bytes: Int) -> Bool { isOnLoop && bytes > budget.bytes }
}

extension EventTypes {
    /// Runs validation that may take long: away from the loop, one job at a time, with apps taking turns.
    func runInTurn<Result: Sendable>(
        for app: AppID, _ work: @Sendable () async throws(ChatError) -> Result
    ) async throws(ChatError) -> Result {
        try await validationQueue.run(for: app, work)
    }
}
