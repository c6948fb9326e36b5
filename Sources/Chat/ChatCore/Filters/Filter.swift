public import ChatModel
import Synchronization

/// A compiled expression that selects events: `type == 'order.paid' && data.amount > 100`.
///
/// Streams, webhooks, history and PubNub's `filter-expr` use the same language (docs/filters.md). The dialect defines
/// the meaning of names. Two filters are equal when their text and dialect are equal, so equal subscriptions share a
/// feed.
public struct Filter: Sendable {
    /// The expression as it was given.
    public let text: String
    /// The dialect that defines the meaning of names.
    let dialect: FilterDialect
    /// The compiled expression; nil for an uncompiled filter.
    private let root: FilterNode?
    private let steps: Int

    /// Compiles an expression.
    ///
    /// - Parameter limits: `filterBytes` limits the text. `filterDepth` limits the nesting of parentheses and prefix
    ///   operators, and thereby the depth of an evaluation. `filterSearches` limits the number of `LIKE` and `CONTAINS`
    ///   operators. `filterSteps` limits the cost of an evaluation.
    /// - Throws: `.malformed` with the slug `bad_filter`; the message gives the error and its column (in characters,
    ///   from 1).
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

    /// The text of a stored filter that is only displayed. It is not compiled, which may take a millisecond, and
    /// selects nothing.
    public init(uncompiled text: String) {
        root = nil
        steps = 0
        self.text = text
        dialect = .native
    }

    /// Returns true when the filter selects the event. Never fails: an operand that cannot be compared does not match,
    /// and an evaluation that exceeds its steps does not match either.
    ///
    /// The payload is parsed only if the expression names it. To evaluate many filters on one event, make one
    /// ``FilterSubject`` and pass it to each.
    public func accepts(_ event: Event) -> Bool { accepts(FilterSubject(event)) }

    /// Returns true when the filter selects the event. Reuses what other filters have parsed of it.
    public func accepts(_ subject: FilterSubject) -> Bool {
        guard let root else { return false }
        if dialect == .pubnub, subject.isNeverFilteredOnPubNub { return true }
        subject.begin(within: steps)
        let holds = root.holds(for: subject)
        guard subject.isExhausted else { return holds }
        FilterStatistics.countExhausted()
        return false
    }

    /// A necessary condition on selected events, as far as it can be looked up in an index.
    var requirement: Requirement? {
        // PubNub's filters always pass events of some kinds.
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

/// Counters over all filters of the process.
public enum FilterStatistics {
    private static let exhausted = Atomic<UInt64>(0)

    /// The number of evaluations that ran out of steps, so that the filter did not match.
    public static var exhaustedCount: UInt64 { exhausted.load(ordering: .relaxed) }

    static func countExhausted() { exhausted.add(1, ordering: .relaxed) }
}
