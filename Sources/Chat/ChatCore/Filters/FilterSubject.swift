public import ChatModel
public import JSON

/// One event or record on which filters are evaluated. The subject caches the values that the filters read, and counts
/// the steps that the evaluations take.
///
/// The payload and the metadata are parsed at most once, and only when an expression uses them. A long text is
/// extracted, parsed as a number and prepared for searches only once, for any number of filters. A subject is not safe
/// for concurrent use: create one for each event, use it in one task, and discard it.
public final class FilterSubject {
    /// The event; nil for a record.
    let event: Event?
    private let record: JSONText?
    private let shownData: JSONText?
    private let shownMeta: JSONText?

    /// Creates the subject of an event.
    ///
    /// - Parameters:
    ///   - wireData: the payload in the form that PubNub clients receive; nil for the event's `wire` text or, without
    ///     one, its `data`.
    ///   - wireMeta: the metadata in the form that PubNub clients receive (the member `u` of PubNub's message
    ///     envelope), which differs from the event's metadata for presence events; nil for the event's metadata.
    public init(_ event: Event, wireData: JSONText? = nil, wireMeta: JSONText? = nil) {
        self.event = event
        record = nil
        shownData = wireData ?? event.draft.wire
        shownMeta = wireMeta
    }

    /// Creates the subject of a record.
    ///
    /// - Parameter record: the record in the form in which the REST API shows it to the reader. So a filter reveals no
    ///   more than the list does.
    init(record: JSONText) {
        event = nil
        self.record = record
        shownData = nil
        shownMeta = nil
    }

    private lazy var data: JSONValue? = Self.parse(event?.data)
    private lazy var meta: JSONValue? = Self.parse(event?.meta)
    private lazy var members: JSONValue? = Self.parse(record)
    private lazy var wireData: JSONValue? = shownData == nil ? data : Self.parse(shownData)
    private lazy var wireMeta: JSONValue? = shownMeta == nil ? meta : Self.parse(shownMeta)

    private var longTexts: [FilterSource: LongText] = [:]
    /// A cache of the arrays that were read: for the source of each array, its elements as index keys
    /// (``IndexedValue``).
    private var listFacts: [FilterSource: [IndexedValue]] = [:]

    /// The remaining steps of the current evaluation. An evaluation takes about one step for each byte that it reads,
    /// and eight steps for each node of the expression.
    private var steps = 0
    /// The number of long texts that were cached. For tests.
    var longTextCount: Int { longTexts.count }
    /// The number of steps of all evaluations so far.
    private(set) var spent = 0

    private static func parse(_ text: JSONText?) -> JSONValue? {
        // The log accepts only valid JSON. If the parser still rejects a text, its members are undefined.
        text.flatMap { try? JSONDocument($0).root }
    }

    /// True for record changes and message actions. PubNub sends these to every subscriber, even to those with a
    /// filter.
    var isNeverFilteredOnPubNub: Bool { event.map { $0.kind == .recordChange || $0.kind == .action } ?? false }

    func begin(within steps: Int) { self.steps = steps }

    /// True when the current evaluation has used more steps than it may. The result of the evaluation is then ignored.
    var isExhausted: Bool { steps < 0 }

    /// Subtracts the cost of an operation from the remaining steps, before the operation runs. Returns false when the
    /// operation costs more steps than are left. A cached value costs as many steps as a value that is read, so that
    /// the result does not depend on other filters.
    func spend(_ count: Int) -> Bool {
        steps -= count
        spent += count
        return steps >= 0
    }

    func value(of source: FilterSource) -> FilterValue {
        if !longTexts.isEmpty, let known = longTexts[source] { return .string(known.text) }
        let value = read(source)
        if case .string(let text) = value, text.utf8.count > LongText.least { longTexts[source] = LongText(text) }
        return value
    }

    /// Returns the value of a source as a number; a text that contains a number counts as that number. Nil for any
    /// other value.
    func number(of source: FilterSource) -> FilterNumber? {
        let value = value(of: source)
        return longTexts.isEmpty ? value.number : longTexts[source].map(\.number) ?? value.number
    }

    private func read(_ source: FilterSource) -> FilterValue {
        switch source {
        case .type: FilterValue(event?.type)
        case .channel: FilterValue(event?.channel.name)
        case .user: FilterValue(event?.user)
        case .customType: FilterValue(event?.customType)
        case .member(let steps): Self.walk(members, steps)
        case .data(let steps): Self.walk(data, steps)
        case .meta(let steps): Self.walk(meta, steps)
        case .wireData(let steps): Self.walk(wireData, steps)
        case .wireMeta(let steps): Self.walk(wireMeta, steps)
        case .publisher(let name):
            if let own = wireMeta?[name] { FilterValue(own) } else { FilterValue(publisher) }
        }
    }

    /// Returns the case-folded text of a source; nil when its value is not a text.
    func folded(_ source: FilterSource) -> [UInt8]? {
        guard let text = value(of: source).string else { return nil }
        return longTexts.isEmpty
            ? CaseInsensitiveText.bytes(text) : longTexts[source]?.folded ?? CaseInsensitiveText.bytes(text)
    }

    /// Returns the text of a source as a pattern for `LIKE`; nil when its value is not a text.
    func pattern(_ source: FilterSource) -> WildcardPattern? {
        guard let text = value(of: source).string else { return nil }
        return longTexts.isEmpty
            ? WildcardPattern(text: text) : longTexts[source]?.pattern ?? WildcardPattern(text: text)
    }

    /// Returns the value of a source as an index key; nil for an undefined value, an array or an object, because these
    /// are equal to no other value.
    func fact(of source: FilterSource) -> IndexedValue? {
        let value = value(of: source)
        return longTexts.isEmpty ? IndexedValue(value) : longTexts[source].map(\.fact) ?? IndexedValue(value)
    }

    /// Returns the elements of `array`, the value of `source`, as index keys. Leaves out elements that are arrays or
    /// objects.
    func facts(of array: JSONValue, _ source: FilterSource) -> [IndexedValue] {
        if let known = listFacts[source] { return known }
        let facts = (0..<array.count).compactMap { array[$0].flatMap { IndexedValue(FilterValue($0)) } }
        listFacts[source] = facts
        return facts
    }

    /// The publisher, which is the member `i` of PubNub's message envelope; nil for presence events, which have none.
    private var publisher: String? { event?.kind == .presence ? nil : event?.user }

    private static func walk(_ start: JSONValue?, _ steps: [FilterStep]) -> FilterValue {
        guard var value = start else { return .undefined }
        for step in steps {
            let next =
                switch step {
                case .member(let name): value[name.text]
                case .index(let index): value[index]
                }
            guard let next else { return .undefined }
            value = next
        }
        return FilterValue(value)
    }
}

/// A long text, cached with the values derived from it. Clients, which are not trusted, determine both the length of
/// the text and the number of filters.
private final class LongText {
    /// The length in bytes above which a text is cached. Shorter texts are read each time.
    static let least = 64

    let text: String
    lazy var folded = CaseInsensitiveText.bytes(text)
    lazy var number = FilterNumber(text)
    lazy var pattern = WildcardPattern(text: text)
    lazy var fact: IndexedValue =
        number.map { .number($0.double) } ?? .text(ExactText(String(decoding: folded, as: UTF8.self)))

    init(_ text: String) { self.text = text }
}
