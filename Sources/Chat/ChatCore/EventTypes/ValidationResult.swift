import ChatModel
import JSON
import JSONSchema
import Locking

/// The result of validating a payload, including the reasons of a rejection. Finding the reasons takes far longer than
/// the verdict.
enum ValidationResult {
    case valid
    case invalid(Report)
    case exhausted(Verdict.Budget)

    /// Validates a value.
    ///
    /// - Parameters:
    ///   - bytes: the length in bytes of the payload's text; nil when the parsed document contains only the payload.
    ///   - work: the remaining validation budget of the request.
    ///   - limit: the maximum number of reasons to find.
    init(
        of value: JSONValue, bytes: Int? = nil, by schema: Schema, within work: inout ValidationBudget, limit: Int = 50
    ) {
        let verdict = ScratchPool.shared.verdict(on: value, bytes: bytes, by: schema, within: &work.budget)
        self.init(verdict, of: value, bytes: bytes, by: schema, within: &work, limit: limit)
    }

    /// Creates the result for a verdict that is already known. If the verdict is a rejection, finds its reasons.
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
    /// The reason why the validation reached no verdict, as a sentence.
    var sentence: String {
        switch self {
        case .steps:
            "checking the data takes more steps than one request may use; send fewer events in one request, or simplify the schema"
        case .patternSteps:
            "matching patterns takes more steps than one request may use; send fewer events in one request, or simplify the patterns"
        case .depth: "the data or the schema is nested too deeply"
        case .members: "an object has too many members to be checked"
        case .memory: "the check needs too much memory"
        case .bytes: "the data is too large to be checked"
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

/// A pool of working memory for evaluations, so that most evaluations allocate no memory. The pool is small, because
/// most evaluations run one after the other on the event loop.
final class ScratchPool: Sendable {
    static let shared = ScratchPool()

    private final class Memory {
        var scratch = Scratch()
    }

    private static let mostKept = 8

    /// The items of working memory that no evaluation uses now. Each item has its own lock. No thread waits for this
    /// lock, because only the evaluation that took the item locks it.
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
