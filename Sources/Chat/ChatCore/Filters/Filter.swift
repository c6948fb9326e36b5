public import ChatModel
import Synchronization

/// A compiled expression that selects events, for example `type == 'order.paid' && data.amount > 100`.
///
/// Streams, webhooks, the history and PubNub's `filter-expr` use the same language (docs/filters.md). A dialect defines
/// which names an expression may use, and what they mean. Two filters with the same text and dialect are equal, so
/// equal subscriptions share a feed.
public struct Filter: Sendable {
    /// The text of the expression, as the client sent it.
    public let text: String
    /// The dialect that defines the meaning of names.
    let dialect: FilterDialect
    /// The compiled expression; nil for a filter that is only displayed.
    private let root: FilterNode?
    private let steps: Int

    /// Compiles an expression.
    ///
    /// - Parameter limits: `filterBytes` limits the length of the text. `filterDepth` limits the nesting of parentheses
    ///   and prefix operators, and so the recursion of an evaluation. `filterSearches` limits the number of `LIKE` and
    ///   `CONTAINS` operators. `filterSteps` limits the cost of an evaluation.
    /// - Throws: `.malformed` with the slug `bad_filter`. The message gives the error and its column, which counts
    ///   characters from 1.
    public init(_ text: String, dialect: FilterDialect = .native, limits: Limits = Limits()) throws(ChatError) {
        guard text.utf8.count <= limits.filterBytes else {
            throw ChatError(
                .malformed, "the filter is longer than \(limits.filterBytes) bytes", slug: FilterLexer.errorSlug,
                field: "filter")
        }
        var parser = try FilterParser(text, dialect: dialect, limits: limits)
        root = try parser.parse()
        steps = limits.filterSteps
        self.text = text
        self.dialect = dialect
    }

    /// Creates a filter with the text of a stored filter that is only displayed. The text is not compiled, because that
    /// may take a millisecond. The filter selects no event.
    public init(uncompiled text: String) {
        root = nil
        steps = 0
        self.text = text
        dialect = .native
    }

    /// Returns true when the filter selects the event. Never fails: an operand that cannot be compared does not match,
    /// and an evaluation that needs more than `filterSteps` steps does not match either.
    ///
    /// The payload of the event is parsed only if the expression uses it. To evaluate many filters on one event, create
    /// one ``FilterSubject`` and pass it to each filter.
    public func accepts(_ event: Event) -> Bool { accepts(FilterSubject(event)) }

    /// Returns true when the filter selects the event or record of `subject`. Reuses the values that other filters have
    /// already read and `subject` has cached.
    public func accepts(_ subject: FilterSubject) -> Bool {
        guard let root else { return false }
        if dialect == .pubnub, subject.isNeverFilteredOnPubNub { return true }
        subject.begin(within: steps)
        let holds = root.holds(for: subject)
        guard subject.isExhausted else { return holds }
        FilterStatistics.countExhausted()
        return false
    }

    /// The requirement of the filter: a condition that every selected event meets, and that an index can look up. Nil
    /// when there is none.
    var requirement: Requirement? {
        // Filters of the PubNub dialect pass events of some kinds regardless of the expression.
        dialect == .pubnub ? nil : root?.requirement
    }
}

extension Filter: Hashable {
    public static func == (left: Filter, right: Filter) -> Bool {
        left.dialect == right.dialect && left.text.utf8.elementsEqual(right.text.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(dialect)
        hasher.combine(text)
    }
}

extension Filter: CustomStringConvertible {
    public var description: String { text }
}

/// Counters for all filters of the process.
public enum FilterStatistics {
    private static let exhausted = Atomic<UInt64>(0)

    /// The number of evaluations that needed too many steps. In such an evaluation, the filter does not match.
    public static var exhaustedCount: UInt64 { exhausted.load(ordering: .relaxed) }

    static func countExhausted() { exhausted.add(1, ordering: .relaxed) }
}
