public import ChatModel

/// The events of a selection between two positions, read from the store page by page.
///
/// The owner of the live side joins history and live events in this order: attach to the hub; record, in one turn of
/// the hub, the hub's position and the live side's mark; read with this up to that position; go live at the mark. No
/// event is missing, because every event above the position comes after the mark. No event is repeated, because none at
/// or below the position does.
public struct CatchUp: Sendable {
    private let log: any EventLog
    /// The selection whose events are read.
    let selection: Selection
    private let audienceSnapshot: AudienceSnapshot?
    /// Removes texts of deleted messages; nil when they are shown.
    private let deletedTexts: DeletedTexts?
    /// The position at which reading ends, inclusive.
    let upTo: Timetoken
    /// The position up to which everything was read.
    public private(set) var position: Timetoken

    init(
        log: any EventLog, selection: Selection, audienceSnapshot: AudienceSnapshot?, after: Timetoken, upTo: Timetoken,
        deletedTexts: DeletedTexts?
    ) {
        self.deletedTexts = deletedTexts
        self.log = log
        self.selection = selection
        self.audienceSnapshot = audienceSnapshot
        self.upTo = upTo
        position = after
    }

    /// True when everything was read.
    public var isOver: Bool { position >= upTo }

    /// Reads the next page, examining at most `limit` events of the selection's channels.
    ///
    /// The page contains the selected events, oldest first. It may be empty although more follow, so that a filter with
    /// few matches has a bounded cost per page.
    ///
    /// - Throws: the errors of the store.
    public mutating func nextPage(limit: Int) async throws(ChatError) -> [Event] {
        guard !isOver else { return [] }
        let page = try await log.events(
            in: audienceSnapshot?.channels ?? selection.channels, after: position, limit: limit)
        // The last page is complete up to the log's watermark, which is never below the hub's position. The watermark
        // may be beyond the end. Events beyond the end are left out, so the position must not pass the end either.
        position = page.hasMore ? min(page.position, upTo) : upTo
        var events = page.items.filter { $0.timetoken <= upTo }
        // The texts are removed before a filter reads them.
        if let deletedTexts { events = try await deletedTexts.withheld(from: events) }
        return events.filter(isWanted)
    }

    private func isWanted(_ event: Event) -> Bool {
        guard let audienceSnapshot else { return selection.viewer == nil && selection.admits(FilterSubject(event)) }
        return audienceSnapshot.admits(event) && selection.admitsBesideChannel(FilterSubject(event))
    }
}

/// The position from which a resuming reader really starts, and whether events were lost.
public struct ResumePosition: Sendable, Equatable {
    /// The reason for a gap.
    public enum Gap: String, Sendable {
        /// The retention of the app or of a type has removed events that the reader could have received.
        case retention
        /// The gateway was restored from a backup, and later events are lost.
        case restore
        /// The position is in the future: it belongs to another gateway, or to this one before a restore.
        case future
        /// The id that the reader sent is not a position.
        case unknown
    }

    /// The position as the reader sent it.
    public var requested: String
    /// The position after which events follow.
    public var from: Timetoken
    /// The gap; nil when all events after the position follow.
    public var gap: Gap?

    /// Resumes after `from`, with a gap if events were lost.
    public init(requested: String, from: Timetoken, gap: Gap? = nil) {
        self.requested = requested
        self.from = from
        self.gap = gap
    }
}

extension ChatAccess {
    /// The events of a selection after one position up to another. The text of a message that is marked as deleted is
    /// null for every reader, because many readers share the pages.
    ///
    /// - Parameter audienceSnapshot: for a selection with a viewer, taken in the turn in which the hub was at `upTo`;
    ///   without it, such a selection matches no event.
    public func catchUp(
        _ selection: Selection, audienceSnapshot: AudienceSnapshot? = nil, after: Timetoken, upTo: Timetoken
    ) -> CatchUp {
        CatchUp(
            log: log, selection: selection, audienceSnapshot: audienceSnapshot, after: after, upTo: upTo,
            deletedTexts: showsDeletedTexts ? nil : DeletedTexts(log: log, directory: directory))
    }

    /// Reads a cursor from a client: a timetoken, an event id, an RFC 3339 time, `earliest` or `latest`.
    ///
    /// `earliest` and `0` request all available events and are never a gap. A position after which the selection has
    /// lost events resumes before the oldest event still kept; a position in the future resumes now. Both are reported
    /// as gaps.
    ///
    /// - Parameter toleratesUnknown: true for an id that a stream issued: anything but a timetoken is then a gap and
    ///   resumes now.
    /// - Throws: `.malformed` for any other text when `toleratesUnknown` is false.
    public func resume(
        _ selection: Selection, at cursor: String, orFromNow toleratesUnknown: Bool = false
    ) async throws(ChatError) -> ResumePosition {
        if !toleratesUnknown, cursor == "earliest" { return ResumePosition(requested: cursor, from: .zero) }
        if !toleratesUnknown, cursor == "latest" {
            return ResumePosition(requested: cursor, from: try await log.watermark(of: app))
        }
        guard let asked = toleratesUnknown ? Timetoken(exactly: cursor) : Timetoken(position: cursor) else {
            guard toleratesUnknown else {
                throw ChatError(
                    .malformed,
                    "the cursor must be a timetoken of 17 digits, an event id, '0', 'earliest', 'latest', or an RFC 3339 time",
                    slug: "bad_cursor", field: "cursor")
            }
            // The id is echoed in the gap, cut to a bounded length.
            return ResumePosition(
                requested: String(cursor.prefix(64)), from: try await log.watermark(of: app), gap: .unknown)
        }
        guard asked > .zero else { return ResumePosition(requested: cursor, from: .zero) }
        // Reads the loss first: it is never above a watermark that is read later.
        let audienceSnapshot = selection.viewer == nil ? nil : await service.hub.audienceSnapshot(of: selection)
        let channels = audienceSnapshot?.channels ?? selection.channels
        let loss = try await log.loss(in: channels, types: selection.types, after: asked)
        let watermark = try await log.watermark(of: app)
        guard asked <= max(watermark, service.clock.now) else {
            return ResumePosition(requested: cursor, from: watermark, gap: .future)
        }
        guard let loss else { return ResumePosition(requested: cursor, from: min(asked, watermark)) }
        let oldest = try await log.events(in: channels, after: asked, limit: 1).items.first?.timetoken
        let from = min(oldest.map { Timetoken($0.rawValue - 1) } ?? .distantFuture, loss.upTo, watermark)
        return ResumePosition(
            requested: cursor, from: from, gap: loss.cause == .restore ? .restore : .retention)
    }
}
