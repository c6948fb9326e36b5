public import ChatModel
public import JSON

/// One event, or one record, while filters are tried on it; remembers what has been read of it, and counts what reading costs.
///
/// The payload and the metadata are parsed at most once, and not before an expression asks for a member. A long text is taken
/// out of them, read as a number and prepared for searches once, however many filters ask for it. Belongs to one task at a
/// time: make one per event, use it, drop it.
public final class FilterSubject {
    /// Nil where it is a record.
    public let event: Event?
    private let record: JSONText?
    private let shownData: JSONText?
    private let shownMeta: JSONText?

    /// - Parameters:
    ///   - wireData: the payload as PubNub's readers get it, when that is neither the event's `wire` text nor its `data`.
    ///   - wireMeta: the metadata they get (`u`) when it is not the event's: presence events have one of their own
    ///     (`pubnub-wire.md` 11.7).
    public init(_ event: Event, wireData: JSONText? = nil, wireMeta: JSONText? = nil) {
        self.event = event
        record = nil
        shownData = wireData ?? event.draft.wire
        shownMeta = wireMeta
    }

    /// - Parameter record: as the REST API shows it to the reader who filters, so that a filter tells no more than the list.
    public init(record: JSONText) {
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
    /// Lists as they are looked up in an index.
    private var listFacts: [FilterSource: [IndexedValue]] = [:]

    /// Steps that the evaluation under way has left: one for about each byte that is read, eight for each part of the expression.
    private var steps = 0
    /// The number of long texts that have been taken out of the event: for tests.
    var longTextCount: Int { longTexts.count }
    /// Steps that all evaluations of the event have taken.
    private(set) var spent = 0

    private static func parse(_ text: JSONText?) -> JSONValue? {
        // A text that the log accepted is JSON. Should the parser refuse it all the same, its members are undefined, as
        // those of any value that has none.
        text.flatMap { try? JSONDocument($0).root }
    }

    /// Record changes and message actions reach every subscriber (`pubnub-wire.md` 9).
    var isNeverFilteredOnPubNub: Bool { event.map { $0.kind == .recordChange || $0.kind == .action } ?? false }

    func begin(within steps: Int) { self.steps = steps }

    /// Whether the evaluation under way has cost more than it may: then its result counts for nothing.
    var isExhausted: Bool { steps < 0 }

    /// Counts what is about to be done; false when it is too much. The same for every evaluation, whatever is remembered.
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

    /// The number, or the one a text spells.
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

    /// The text of a source without regard to case; nil when it is no text.
    func folded(_ source: FilterSource) -> [UInt8]? {
        guard let text = value(of: source).string else { return nil }
        return longTexts.isEmpty
            ? CaseInsensitiveText.bytes(text) : longTexts[source]?.folded ?? CaseInsensitiveText.bytes(text)
    }

    /// The text of a source as a pattern; nil when it is no text.
    func pattern(_ source: FilterSource) -> WildcardPattern? {
        guard let text = value(of: source).string else { return nil }
        return longTexts.isEmpty
            ? WildcardPattern(text: text) : longTexts[source]?.pattern ?? WildcardPattern(text: text)
    }

    /// The value of a source as it is looked up; nil for what is equal to nothing.
    func fact(of source: FilterSource) -> IndexedValue? {
        let value = value(of: source)
        return longTexts.isEmpty ? IndexedValue(value) : longTexts[source].map(\.fact) ?? IndexedValue(value)
    }

    /// The elements of a list as they are looked up.
    func facts(of array: JSONValue, _ source: FilterSource) -> [IndexedValue] {
        if let known = listFacts[source] { return known }
        let facts = (0..<array.count).compactMap { array[$0].flatMap { IndexedValue(FilterValue($0)) } }
        listFacts[source] = facts
        return facts
    }

    /// The `i` of the wire's envelope, which presence has none of (`pubnub-wire.md` 8.4).
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

/// A text that is worth remembering, with what was made of it. Its length comes from strangers, and so do the filters.
private final class LongText {
    /// Shorter ones are read again.
    static let least = 64

    let text: String
    lazy var folded = CaseInsensitiveText.bytes(text)
    lazy var number = FilterNumber(text)
    lazy var pattern = WildcardPattern(text: text)
    lazy var fact: IndexedValue =
        number.map { .number($0.double) } ?? .text(ExactText(String(decoding: folded, as: UTF8.self)))

    init(_ text: String) { self.text = text }
}
