public import ChatModel
import Synchronization

/// A compiled expression that selects events: `type == 'order.paid' && data.amount > 100`.
///
/// One language for streams, webhooks, history and PubNub's `filter-expr` (`pubnub-wire.md` 9). What the names mean is
/// the dialect's choice. Two filters are equal when their text and dialect are, which is what lets equal subscriptions
/// share a feed.
public struct Filter: Sendable {
    /// The expression as it was given.
    public let text: String
    public let dialect: FilterDialect
    /// Nil: not compiled.
    private let root: FilterNode?
    private let steps: Int

    /// Compiles an expression.
    ///
    /// - Parameter limits: `filterBytes` bounds the text, `filterDepth` the nesting of parentheses and prefix operators;
    ///   evaluation goes no deeper than that. `filterSearches` bounds how often a text is read for one event, and
    ///   `filterSteps` what an evaluation costs.
    /// - Throws: `.malformed` with the slug `bad_filter`; the message says what is wrong and at which column (characters,
    ///   from 1).
    public init(_ text: String, dialect: FilterDialect = .native, limits: Limits = Limits()) throws(ChatError) {
        guard text.utf8.count <= limits.filterBytes else {
            throw ChatError(
                .malformed, "the filter is longer than \(limits.filterBytes) bytes", slug: FilterLexer.errorSlug)
        }
        var parser = try FilterParser(text, dialect: dialect, limits: limits)
        root = try parser.parse()
        steps = limits.filterSteps
        self.text = text
        self.dialect = dialect
    }

    /// The text of a stored filter that is only shown: it is not compiled, which may take a millisecond, and selects nothing.
    public init(uncompiled text: String) {
        root = nil
        steps = 0
        self.text = text
        dialect = .native
    }

    /// Whether the event is selected. Never fails: what cannot be compared does not match, nor does what would take more
    /// steps than an evaluation has.
    ///
    /// The payload is parsed only if the expression names it. To try many filters on one event, make one
    /// ``FilterSubject`` and hand that to each.
    public func accepts(_ event: Event) -> Bool { accepts(FilterSubject(event)) }

    /// Whether the event is selected, with what other filters have already parsed of it.
    public func accepts(_ subject: FilterSubject) -> Bool {
        guard let root else { return false }
        if dialect == .pubnub, subject.isNeverFilteredOnPubNub { return true }
        subject.begin(within: steps)
        let holds = root.holds(for: subject)
        guard subject.isExhausted else { return holds }
        FilterStatistics.countExhausted()
        return false
    }

    /// What an event must have to be selected, as far as it can be looked up.
    var requirement: Requirement? {
        // Some events pass PubNub's filters whatever they say.
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

/// Counts over all filters of the process.
public enum FilterStatistics {
    private static let exhausted = Atomic<UInt64>(0)

    /// Evaluations that ran out of steps, so that the filter did not match.
    public static var exhaustedCount: UInt64 { exhausted.load(ordering: .relaxed) }

    static func countExhausted() { exhausted.add(1, ordering: .relaxed) }
}
