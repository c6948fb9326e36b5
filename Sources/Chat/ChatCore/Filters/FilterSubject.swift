public import ChatModel
public import JSON

/// One event while filters are tried on it; remembers what has been parsed of it.
///
/// The payload and the metadata are parsed at most once, and not before an expression asks for a member. Belongs to one
/// task at a time: make one per event, use it, drop it.
public final class FilterSubject {
    public let event: Event
    private let shownData: JSONText?
    private let shownMeta: JSONText?

    /// - Parameters:
    ///   - wireData: the payload as PubNub's readers get it, when that is neither the event's `wire` text nor its `data`.
    ///   - wireMeta: the metadata they get (`u`) when it is not the event's: presence events have one of their own
    ///     (`pubnub-wire.md` 11.7).
    public init(_ event: Event, wireData: JSONText? = nil, wireMeta: JSONText? = nil) {
        self.event = event
        shownData = wireData ?? event.draft.wire
        shownMeta = wireMeta
    }

    private lazy var data: JSONValue? = Self.parse(event.data)
    private lazy var meta: JSONValue? = Self.parse(event.meta)
    private lazy var wireData: JSONValue? = shownData == nil ? data : Self.parse(shownData)
    private lazy var wireMeta: JSONValue? = shownMeta == nil ? meta : Self.parse(shownMeta)

    private var folds: [FilterSource: [UInt8]?] = [:]

    private static func parse(_ text: JSONText?) -> JSONValue? {
        // A text that the log accepted is JSON. Should the parser refuse it all the same, its members are undefined, as
        // those of any value that has none.
        text.flatMap { try? JSONDocument($0).root }
    }

    /// Record changes and message actions reach every subscriber (`pubnub-wire.md` 9).
    var isNeverFilteredOnPubNub: Bool { event.kind == .recordChange || event.kind == .action }

    func value(of source: FilterSource) -> FilterValue {
        switch source {
        case .type: .string(event.type)
        case .channel: .string(event.channel.name)
        case .user: FilterValue(event.user)
        case .customType: FilterValue(event.customType)
        case .data(let steps): Self.walk(data, steps)
        case .meta(let steps): Self.walk(meta, steps)
        case .wireData(let steps): Self.walk(wireData, steps)
        case .wireMeta(let steps): Self.walk(wireMeta, steps)
        case .publisher(let name):
            if let own = wireMeta?[name] { FilterValue(own) } else { FilterValue(publisher) }
        }
    }

    /// The text of a source without regard to case; nil when it is no text. Made once, however many filters search it: they
    /// come from strangers, and so does its length.
    func folded(_ source: FilterSource) -> [UInt8]? {
        if let known = folds[source] { return known }
        let folded = value(of: source).string.map(FoldedText.bytes)
        folds[source] = .some(folded)
        return folded
    }

    /// The `i` of the wire's envelope, which presence has none of (`pubnub-wire.md` 8.4).
    private var publisher: String? { event.kind == .presence ? nil : event.user }

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
