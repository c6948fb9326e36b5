/// The bounds and the size of a page of a history.
public protocol PubNubBoundedPage: Sendable {
    /// The upper bound of the timetokens, exclusive; nil starts with the newest element.
    var start: Timetoken? { get }
    /// The lower bound of the timetokens, inclusive; nil for no bound.
    var end: Timetoken? { get }
    /// The maximum number of elements; nil selects the default of the call.
    var limit: Int? { get }
}

/// The bounds and the size of a page of a history, as a value.
public struct PubNubBoundedPageBase: PubNubBoundedPage, Codable, Hashable {
    public let start: Timetoken?
    public let end: Timetoken?
    public let limit: Int?

    /// Creates bounds. Returns nil when all parameters are nil.
    public init?(start: Timetoken? = nil, end: Timetoken? = nil, limit: Int? = nil) {
        guard start != nil || end != nil || limit != nil else { return nil }
        self.start = start
        self.end = end
        self.limit = limit
    }
}

/// The position of a page in a list of records.
public protocol PubNubHashedPage: Sendable {
    /// The cursor of the page, which is an opaque text from the gateway; nil for the first page.
    var start: String? { get }
    /// The cursor of the previous page; always nil in a response of the gateway.
    var end: String? { get }
    /// The number of all records of the list; nil when it is not known.
    var totalCount: Int? { get }
}

extension PubNubHashedPage {
    /// The cursor of the next page.
    public var next: String? { start }
    /// The cursor of the previous page.
    public var prev: String? { end }
}

extension PubNub {
    /// The position of a page in a list of records, as a value.
    public struct Page: PubNubHashedPage, Hashable {
        public var start: String?
        public var end: String?
        public let totalCount: Int?

        /// Creates the position of a page. Without a cursor, this is the first page.
        public init(start: String? = nil, end: String? = nil, totalCount: Int? = nil) {
            self.start = start
            self.end = end
            self.totalCount = totalCount
        }

        /// Creates the position of a page from the cursors of the next page and the previous page.
        public init(next: String?, prev: String?, totalCount: Int?) {
            self.init(start: next, end: prev, totalCount: totalCount)
        }
    }
}
