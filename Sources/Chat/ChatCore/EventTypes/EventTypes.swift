import ChatModel
import JSON
import JSONSchema
import Locking
import Synchronization

/// The event types of all apps in memory. The newest schema of each type is compiled, so that an emit is validated
/// without waiting.
///
/// The records in the directory of records are authoritative; this class follows the changes of the records. A
/// declaration takes effect on this node before the call returns, and on other nodes within a second. Other modules use
/// the methods of `ChatAccess` instead.
public final class EventTypes: Sendable {
    struct Entry {
        var type: EventType
        /// The newest version that this node has compiled. After a declaration on another node, this is the previous
        /// version until the new version is compiled.
        var compiled: CompiledVersion?
        /// The validator of the type's payloads; nil when they are not validated.
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

        /// Sets the candidate of an event type. If the current candidate has the same JSON, the current candidate
        /// stays, so that its counts are not lost.
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
    let compileQueue = FairQueue()
    /// Runs long validations. Separate from `compileQueue`, so that validations do not wait for declarations, which
    /// take longer.
    let validationQueue = FairQueue()
    let contents = Lock<[AppID: AppTypes]>([:])
    /// True when any app has an event type or a candidate, or had one since the start. Set before they take effect, under
    /// the lock of `contents`. While it is false, an emit does not take that lock.
    let isUsed = Atomic(false)
    let violations = ViolationCounters()
    /// Signals that an event was checked against a candidate.
    let candidateSignal = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let unusableObservers = Lock<[@Sendable (UnusableVersion) -> Void]>([])

    init(engine: any Engine, keyring: Keyring, limits: LiveLimits, clock: WallClock) {
        directory = engine.directory
        log = engine.log
        self.keyring = keyring
        liveLimits = limits
        self.clock = clock
        mirror = RecordMirror([.app, .eventType, .setting], of: engine.directory)
    }

    /// The check of a schema that is being declared, with the current limits.
    var check: SchemaCheck { SchemaCheck(limits: limits) }
    /// The check of a stored schema, without a limit on its length and with more time to compile.
    var storedCheck: SchemaCheck { SchemaCheck(limits: limits, isOfStored: true) }

    // MARK: Reading

    /// Returns true when a name belongs to a built-in type, or is reserved for built-in types.
    static func isBuiltIn(_ name: String) -> Bool {
        BuiltInTypes.isReserved(name) || BuiltInCatalogue.named(name) != nil
    }

    /// Returns a declared or built-in type.
    ///
    /// - Throws: `.notFound` when no type has this name.
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

    static let unknown = ChatError(.notFound, "no event type has this name")
    static let unknownVersion = ChatError(.notFound, "the event type has no version with this number")
    static let stale = ChatError(
        .stale, "the event type has changed since it was read; read it again, and repeat the change")
}

extension EventTypes {
    // MARK: Validation

    /// Validates the payload of a draft against the newest schema of its type. All interfaces use this method.
    ///
    /// - Parameter work: the remaining validation budget of the request. On the event loop, the result is valid only
    ///   when `work.isPutOff` stays false.
    /// - Returns: the schema that accepted the payload; nil when nothing was checked, or when the mode permits the
    ///   violation. Also the retention of the type's events; nil when the type sets none.
    /// - Throws: the errors of `SchemaValidator.admit`; `.invalid` with the slug `undeclared_type` when the app
    ///   requires declared types.
    func admit(
        _ draft: EventDraft, in app: AppID, within work: inout ValidationBudget
    ) throws(ChatError) -> (schema: SchemaReference?, retention: Duration?) {
        let type = draft.type
        if draft.allowsBuiltInType, let validator = BuiltInValidators.all[ExactText(type)] {
            return (try validator.admit(draft.data, within: &work), nil)
        }
        var rule: (validator: SchemaValidator?, retention: Duration?)?
        if isUsed.load(ordering: .acquiring) {
            // Unlike ``entry(_:in:)``, copies no description of the type.
            rule = contents.withLock { contents in
                guard let entries = contents[app]?.entries, let index = entries.index(forKey: ExactText(type)) else {
                    return nil
                }
                return (entries.values[index].validator, entries.values[index].type.settings.retention)
            }
        }
        guard let rule else {
            // An event without a type has the type `BuiltInTypes.custom`, and counts as undeclared.
            guard keyring.requiresDeclaredTypes(app), type == BuiltInTypes.custom || !Self.isBuiltIn(type) else {
                return (nil, nil)
            }
            throw ChatError(
                .invalid,
                "the event type '\(type)' is not declared, and this app accepts declared types only; declare the type first",
                slug: "undeclared_type")
        }
        return (try rule.validator?.admit(draft.data, within: &work), rule.retention)
    }

    /// Validates an imported event. Events of built-in types are checked against the catalogue, because readers rely on
    /// their fields. The app's own schemas are not applied, because past events cannot be changed.
    ///
    /// - Returns: the type's retention; nil when the type sets none.
    func admit(
        imported draft: EventDraft, in app: AppID, within work: inout ValidationBudget
    ) throws(ChatError) -> Duration? {
        guard draft.allowsBuiltInType else { return entry(draft.type, in: app)?.type.settings.retention }
        _ = try BuiltInValidators.all[ExactText(draft.type)]?.admit(draft.data, within: &work)
        return nil
    }

    /// Validates the data of an event of the gateway itself against the schema of its built-in type.
    func admit(report type: String, _ data: JSONText) throws(ChatError) {
        var work = ValidationBudget()
        _ = try BuiltInValidators.all[ExactText(type)]?.admit(data, within: &work)
    }

    /// Checks appended events against the candidates of their types. Also counts the events that violate their schema
    /// in mode `warn`; the counts are reported to operators.
    @inline(never)  // Keeps the local values out of the memory of a task that waits for the commit.
    func inspectAppended(_ outcome: AppendOutcome) {
        guard isUsed.load(ordering: .acquiring), outcome.repeatedNote == nil else { return }
        var work = ValidationBudget.beside
        for appended in outcome.events where !appended.isDuplicate { inspect(appended.event, within: &work) }
    }

    private func inspect(_ event: Event, within work: inout ValidationBudget) {
        let name = ExactText(event.type)
        let (candidate, validator) = contents.withLock { contents -> (Candidate?, SchemaValidator?) in
            guard let app = contents[event.channel.app] else { return (nil, nil) }
            return (app.candidates.isEmpty ? nil : app.candidates[name], app.entries[name]?.validator)
        }
        if let candidate {
            candidate.inspect(event, depth: limits.jsonDepth, within: &work)
            candidateSignal.continuation.yield()
        }
        if let validator, validator.mode == .warn, event.draft.schema == nil { violations.record(event) }
    }
}

/// The remaining work that one request may spend on validation. All events of the request share it.
public struct ValidationBudget: Sendable {
    var budget: EvaluationBudget
    /// True when the validation runs on the event loop, where other connections wait for it. A payload is then
    /// postponed (``isPutOff``) if its validation needs more than this budget, or if the reasons of a rejection must be
    /// found.
    let isOnLoop: Bool
    /// True when a payload was postponed and must be validated again, away from the event loop.
    var isPutOff = false

    /// Creates the full budget of one request: the evaluation steps and pattern steps that the limits allow for one
    /// value. Each byte of the payloads adds ten evaluation steps. Finding the reasons of violations may take about 40
    /// ms.
    public init() {
        let limits = SchemaLimits()
        budget = EvaluationBudget(
            steps: limits.steps, bytes: limits.payloadBytes, patternSteps: limits.patternSteps,
            reportSteps: limits.steps * 2 / 5)
        isOnLoop = false
    }

    /// The budget for validation on the event loop: at most about two milliseconds. The budget is enough for a small
    /// body and an ordinary schema.
    static let onLoop = ValidationBudget(
        budget: EvaluationBudget(steps: 20_000, bytes: 64 * 1024, patternSteps: 20_000, reportSteps: 0))

    /// The budget for checking the events of one request against candidates, separate from the request's own budget.
    /// The budget is enough to find a few reasons of a violation.
    static let beside = ValidationBudget(
        budget: EvaluationBudget(steps: 20_000, bytes: 64 * 1024, patternSteps: 20_000, reportSteps: 1_000))

    private init(budget: EvaluationBudget) {
        self.budget = budget
        isOnLoop = true
    }

    /// Returns true when a payload of this length in bytes must not be parsed on the event loop.
    func isTooLarge(_ bytes: Int) -> Bool { isOnLoop && bytes > budget.bytes }
}

extension EventTypes {
    /// Runs a validation that may take long: away from the event loop, one job at a time, with apps taking turns.
    func runInTurn<Result: Sendable>(
        for app: AppID, _ work: @Sendable () async throws(ChatError) -> Result
    ) async throws(ChatError) -> Result {
        try await validationQueue.run(for: app, work)
    }
}
