public import ChatModel

/// Reads the stored events of a selection between two positions of the event log, page by page. A position is a
/// timetoken.
///
/// To receive stored events and then live events, a reader does the following:
/// 1. Attach a sink to the hub.
/// 2. In one step of the hub, record the hub's position, and mark the end of the sink's queue of live events.
/// 3. With this type, read the stored events up to that position.
/// 4. Continue with the live events after the mark.
///
/// No event is missing, because every event above the position comes after the mark. No event is repeated, because no
/// event at or below the position comes after the mark.
public struct CatchUp: Sendable {
    private let log: any EventLog
    /// The selection whose events are read.
    let selection: Selection
    private let audienceSnapshot: AudienceSnapshot?
    /// Removes the texts of deleted messages; nil to leave the texts in the events.
    private let deletedTexts: DeletedTexts?
    /// The position at which reading ends, inclusive.
    let upTo: Timetoken
    /// The position up to which all events were read.
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

    /// True when all events up to `upTo` were read.
    public var isOver: Bool { position >= upTo }

    /// Reads the next page. Examines at most `limit` events of the selection's channels.
    ///
    /// Returns the selected events of the page, oldest first. A page may be empty although more events follow, because
    /// `limit` counts the examined events and not the selected events.
    ///
    /// - Throws: the errors of the store.
    public nonisolated(nonsending) mutating func nextPage(limit: Int) async throws(ChatError) -> [Event] {
        guard !isOver else { return [] }
        let page = try await log.events(
            in: audienceSnapshot?.channels ?? selection.channels, after: position, limit: limit)
        // The last page is complete up to the log's watermark, which is never below the hub's position. If the
        // watermark is beyond `upTo`, the page may contain events beyond `upTo`. These are left out, and `position`
        // stops at `upTo`.
        position = page.hasMore ? min(page.position, upTo) : upTo
        var events = page.items.filter { $0.timetoken <= upTo }
        // The texts are removed first, so that the filter does not see them either.
        if let deletedTexts { events = try await deletedTexts.withheld(from: events) }
        return events.filter(isWanted)
    }

    private func isWanted(_ event: Event) -> Bool {
        guard let audienceSnapshot else { return selection.viewer == nil && selection.admits(FilterSubject(event)) }
        return audienceSnapshot.admits(event) && selection.admitsBesideChannel(FilterSubject(event))
    }
}

/// The position from which a reader resumes, and the reason why the reader misses events, if it does.
public struct ResumePosition: Sendable, Equatable {
    /// The reason why a reader misses events.
    public enum Gap: String, Sendable {
        /// The retention of the app or of an event type has removed events that the reader could have received.
        case retention
        /// The gateway was restored from a backup, and events that were newer than the backup are lost.
        case restore
        /// The requested position is in the future: the position belongs to another gateway, or to this gateway before
        /// a restore from a backup.
        case future
        /// The id that the reader sent is not a timetoken.
        case unknown
    }

    /// The position as the reader sent it.
    public var requested: String
    /// The position from which the reader resumes. The reader receives the events after this position.
    public var from: Timetoken
    /// The reason for a gap; nil when no event after the requested position is missing.
    public var gap: Gap?

    /// Creates a position to resume from, with a gap if events were lost.
    public init(requested: String, from: Timetoken, gap: Gap? = nil) {
        self.requested = requested
        self.from = from
        self.gap = gap
    }
}

extension ChatAccess {
    /// Returns a reader of the events of a selection above `after` and up to `upTo`. Unless ``showsDeletedTexts`` is
    /// true, the texts of messages marked as deleted are removed from the events. The texts are removed even if the
    /// caller may undo the deletion, because readers share the pages.
    ///
    /// - Parameter audienceSnapshot: the snapshot for the selection's viewer, taken while the hub's position was
    ///   `upTo`; nil for a selection without a viewer. Without a snapshot, a selection with a viewer matches no event.
    public func catchUp(
        _ selection: Selection, audienceSnapshot: AudienceSnapshot? = nil, after: Timetoken, upTo: Timetoken
    ) -> CatchUp {
        CatchUp(
            log: log, selection: selection, audienceSnapshot: audienceSnapshot, after: after, upTo: upTo,
            deletedTexts: showsDeletedTexts ? nil : DeletedTexts(log: log, directory: directory))
    }

    /// Parses the cursor of a client: a timetoken, an event id, an RFC 3339 time, `earliest` or `latest`.
    ///
    /// The cursors `earliest` and `0` request all available events and never cause a gap. If events after the cursor
    /// were lost, the reader resumes before the oldest remaining event. If the cursor is in the future, the reader
    /// resumes at the end of the event log. Lost events and a cursor in the future are reported as gaps.
    ///
    /// - Parameter toleratesUnknown: true when `cursor` is the id of the last event that a stream's client has
    ///   received. The id must be a timetoken. If `cursor` is any other text, the reader resumes at the end of the
    ///   event log, and a gap is reported.
    /// - Throws: `.malformed` when `toleratesUnknown` is false and the text has none of the listed forms; the errors of
    ///   the store.
    public nonisolated(nonsending) func resume(
        _ selection: Selection, at cursor: String, orFromNow toleratesUnknown: Bool = false
    ) async throws(ChatError) -> ResumePosition {
        if let position = resumeAtOnce(selection, at: cursor, orFromNow: toleratesUnknown) { return position }
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
            // The gap repeats the id, cut to 64 characters.
            return ResumePosition(
                requested: String(cursor.prefix(64)), from: try await log.watermark(of: app), gap: .unknown)
        }
        guard asked > .zero else { return ResumePosition(requested: cursor, from: .zero) }
        // Reads the loss before the watermark, so that the position of the loss is never above the watermark.
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

    /// The result of ``resume(_:at:orFromNow:)`` for a cursor without a gap, if it is known without waiting; nil
    /// otherwise.
    public func resumeAtOnce(
        _ selection: Selection, at cursor: String, orFromNow toleratesUnknown: Bool = false
    ) -> ResumePosition? {
        guard selection.viewer == nil else { return nil }
        if !toleratesUnknown, cursor == "latest" {
            return watermarkAtOnce.map { ResumePosition(requested: cursor, from: $0) }
        }
        guard let asked = toleratesUnknown ? Timetoken(exactly: cursor) : Timetoken(position: cursor), asked > .zero,
            let watermark = log.watermarkAtOnce(of: app, ifCompleteAfter: asked),
            asked <= max(watermark, service.clock.now)
        else { return nil }
        return ResumePosition(requested: cursor, from: min(asked, watermark))
    }
}
