public import ChatModel
public import JSON

/// One event or one record while filters are evaluated on it. It caches what has been read, and counts the cost of
/// reading.
///
/// The payload and the metadata are parsed at most once, and only when an expression names a member. A long text is
/// extracted, read as a number and prepared for searches once, however many filters use it. It must be used by one task
/// at a time: make one per event, use it, and drop it.
public final class FilterSubject {
    /// The event; nil for a record.
    let event: Event?
    private let record: JSONText?
    private let shownData: JSONText?
    private let shownMeta: JSONText?

    /// Makes the subject of an event.
    ///
    /// - Parameters:
    ///   - wireData: the payload as PubNub's readers get it, when that is neither the event's `wire` text nor its
    ///     `data`.
    ///   - wireMeta: the metadata that they get (`u`), when it is not the event's. Presence events have their own.
    public init(_ event: Event, wireData: JSONText? = nil, wireMeta: JSONText? = nil) {
        self.event = event
        record = nil
        shownData = wireData ?? event.draft.wire
        shownMeta = wireMeta
    }

    /// Makes the subject of a record.
    ///
    /// - Parameter record: the record as the REST API shows it to the reader who filters, so that a filter reveals no
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
    /// Elements of lists in the form in which an index finds them.
    private var listFacts: [FilterSource: [IndexedValue]] = [:]

    /// The remaining steps of the current evaluation: about one for each byte that is read, and eight for each part of
    /// the expression.
    private var steps = 0
    /// The number of long texts extracted from the event. For tests.
    var longTextCount: Int { longTexts.count }
    /// The number of steps that all evaluations of the event have taken.
    private(set) var spent = 0

    private static func parse(_ text: JSONText?) -> JSONValue? {
        // A text that the log accepted is valid JSON. If the parser refuses it nevertheless, its members are undefined,
        // like those of any value without members.
        text.flatMap { try? JSONDocument($0).root }
    }

    /// True for record changes and message actions, which PubNub delivers to every subscriber.
    var isNeverFilteredOnPubNub: Bool { event.map { $0.kind == .recordChange || $0.kind == .action } ?? false }

    func begin(within steps: Int) { self.steps = steps }

    /// True when the current evaluation has exceeded its steps. Then its result does not count.
    var isExhausted: Bool { steps < 0 }

    /// Spends steps before the work is done. Returns false when the steps are exhausted. The cost is the same for every
    /// evaluation, whether or not the value is cached.
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

    /// The number, or the number that a text spells.
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

    /// The case-folded text of a source; nil when its value is not a text.
    func folded(_ source: FilterSource) -> [UInt8]? {
        guard let text = value(of: source).string else { return nil }
        return longTexts.isEmpty
            ? CaseInsensitiveText.bytes(text) : longTexts[source]?.folded ?? CaseInsensitiveText.bytes(text)
    }

    /// The text of a source as a pattern; nil when its value is not a text.
    func pattern(_ source: FilterSource) -> WildcardPattern? {
        guard let text = value(of: source).string else { return nil }
        return longTexts.isEmpty
            ? WildcardPattern(text: text) : longTexts[source]?.pattern ?? WildcardPattern(text: text)
    }

    /// The value of a source in the form in which an index finds it; nil for a value that equals nothing.
    func fact(of source: FilterSource) -> IndexedValue? {
        let value = value(of: source)
        return longTexts.isEmpty ? IndexedValue(value) : longTexts[source].map(\.fact) ?? IndexedValue(value)
    }

    /// The elements of a list in the form in which an index finds them.
    func facts(of array: JSONValue, _ source: FilterSource) -> [IndexedValue] {
        if let known = listFacts[source] { return known }
        let facts = (0..<array.count).compactMap { array[$0].flatMap { IndexedValue(FilterValue($0)) } }
        listFacts[source] = facts
        return facts
    }

    /// The member `i` of the PubNub envelope; presence events have none.
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

/// A text that is long enough to cache, with the values derived from it. Both its length and the filters come from
/// untrusted clients.
private final class LongText {
    /// The minimum length in bytes of a cached text. Shorter texts are read again.
    static let least = 64

    let text: String
    lazy var folded = CaseInsensitiveText.bytes(text)
    lazy var number = FilterNumber(text)
    lazy var pattern = WildcardPattern(text: text)
    lazy var fact: IndexedValue =
        number.map { .number($0.double) } ?? .text(ExactText(String(decoding: folded, as: UTF8.self)))

    init(_ text: String) { self.text = text }
}
