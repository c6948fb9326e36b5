import ChatModel
import JSON
import JSONSchema
import Locking

/// What a schema says of a payload; with the reasons, which cost far more than the verdict.
enum ValidationResult {
    case valid
    case invalid(Report)
    case exhausted(Verdict.Budget)

    /// - Parameters:
    ///   - bytes: the length of the payload's own text, when the value is a part of a larger body.
    ///   - work: what is left of the request's.
    ///   - limit: how many reasons are wanted.
    init(
        of value: JSONValue, bytes: Int? = nil, by schema: Schema, within work: inout ValidationBudget, limit: Int = 50
    ) {
        let verdict = ScratchPool.shared.verdict(on: value, bytes: bytes, by: schema, within: &work.budget)
        self.init(verdict, of: value, bytes: bytes, by: schema, within: &work, limit: limit)
    }

    /// The same for a verdict that is there already.
    init(
        _ verdict: Verdict, of value: JSONValue, bytes: Int?, by schema: Schema, within work: inout ValidationBudget,
        limit: Int = 50
    ) {
        switch verdict {
        case .valid: self = .valid
        case .invalid:
            var options = ReportOptions()
            options.limit = limit
            self = .invalid(schema.reasons(on: value, bytes: bytes, within: &work.budget, options: options))
        case .exhausted(let budget): self = .exhausted(budget)
        }
    }
}

extension Verdict.Budget {
    /// Why a payload was neither accepted nor refused.
    var sentence: String {
        switch self {
        case .steps:
            "checking it takes more steps than the request has left; send fewer events at once, or a simpler schema"
        case .patternSteps:
            "matching its texts takes more steps than the request has left; send fewer events at once, or simpler patterns"
        case .depth: "checking it nests too deeply"
        case .members: "one of its objects has too many members to be checked"
        case .memory: "checking it takes too much memory"
        case .bytes: "it is too large to be checked"
        }
    }
}

extension ChatError.FieldError {
    init(_ violation: Violation) {
        self.init(
            pointer: violation.pointer, keyword: violation.keyword, detail: violation.detail,
            expected: violation.expected, schema: violation.absoluteKeywordLocation)
    }
}

/// Working memory of evaluations, used again: an evaluation then allocates nothing. Most run on the loop, one after the
/// other, so there are few.
final class ScratchPool: Sendable {
    static let shared = ScratchPool()

    private final class Memory {
        var scratch = Scratch()
    }

    private static let mostKept = 8

    /// Each behind a lock that nobody else has meanwhile, so taking it never waits.
    private let free = Lock<[Lock<Memory>]>([])

    func verdict(
        on value: JSONValue, bytes: Int? = nil, by schema: Schema, within budget: inout EvaluationBudget
    ) -> Verdict {
        let memory = free.withLock { $0.popLast() } ?? Lock(Memory())
        defer {
            free.withLock { free in
                if free.count < Self.mostKept { free.append(memory) }
            }
        }
        return memory.withLock { schema.verdict(on: value, bytes: bytes, within: &budget, scratch: &$0.scratch) }
    }
}
