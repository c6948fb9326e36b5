/// The bounds of a page of a history.
public protocol PubNubBoundedPage: Sendable {
    /// The newer bound, exclusive; nil starts with the newest.
    var start: Timetoken? { get }
    /// The older bound, inclusive; nil has no bound.
    var end: Timetoken? { get }
    /// The maximum number of elements; nil selects the call's.
    var limit: Int? { get }
}

/// The bounds of a page of a history, as a value.
public struct PubNubBoundedPageBase: PubNubBoundedPage, Codable, Hashable {
    public let start: Timetoken?
    public let end: Timetoken?
    public let limit: Int?

    /// Creates bounds; nil when there are none.
    public init?(start: Timetoken? = nil, end: Timetoken? = nil, limit: Int? = nil) {
        guard start != nil || end != nil || limit != nil else { return nil }
        self.start = start
        self.end = end
        self.limit = limit
    }
}

/// The position of a page of records.
public protocol PubNubHashedPage: Sendable {
    /// The cursor of the page; nil for the first one.
    var start: String? { get }
    /// The cursor of the page before; always nil in an answer of the gateway.
    var end: String? { get }
    /// The number of all records; nil when it is not known.
    var totalCount: Int? { get }
}

extension PubNubHashedPage {
    /// The cursor of the next page.
    public var next: String? { start }
    /// The cursor of the page before.
    public var prev: String? { end }
}

extension PubNub {
    /// The position of a page of records, as a value.
    public struct Page: PubNubHashedPage, Hashable {
        public var start: String?
        public var end: String?
        public let totalCount: Int?

        /// Creates the position of a page; without a cursor, of the first one.
        public init(start: String? = nil, end: String? = nil, totalCount: Int? = nil) {
            self.start = start
            self.end = end
            self.totalCount = totalCount
        }

        /// Creates the position of a page from the cursors of an answer.
        public init(next: String?, prev: String?, totalCount: Int?) {
            self.init(start: next, end: prev, totalCount: totalCount)
        }
    }
}
