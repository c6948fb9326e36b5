public import ChatModel

/// The events of a selection between two positions, read from the store page by page.
///
/// History and live are joined by whoever owns the live side, in this order: attach to the hub, note in one turn the
/// hub's position and the live side's mark, read with this up to that position, go live at the mark. Nothing is missing,
/// because everything above the position is behind the mark; nothing comes twice, because nothing at or below it is.
public struct CatchUp: Sendable {
    private let log: any EventLog
    public let selection: Selection
    private let audienceSnapshot: AudienceSnapshot?
    /// Takes texts out that nobody may read any more; nil where they are shown.
    private let deletedTexts: DeletedTexts?
    /// Where reading ends, inclusive.
    public let upTo: Timetoken
    /// Everything up to here has been read.
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

    /// Whether there is nothing left to read.
    public var isOver: Bool { position >= upTo }

    /// Reads on and looks at no more than `limit` events of the selection's channels.
    ///
    /// The page holds those that are wanted, oldest first; it may be empty though more are to come, so that a filter
    /// that admits little costs a bounded step at a time.
    public mutating func nextPage(limit: Int) async throws(ChatError) -> [Event] {
        guard !isOver else { return [] }
        let page = try await log.events(
            in: audienceSnapshot?.channels ?? selection.channels, after: position, limit: limit)
        // A last page is complete up to the log's watermark, which is never below the hub's position. It may go beyond
        // the end, where its events are left out: so must their places be.
        position = page.hasMore ? min(page.position, upTo) : upTo
        var events = page.items.filter { $0.timetoken <= upTo }
        // Before a filter reads them.
        if let deletedTexts { events = try await deletedTexts.withheld(from: events) }
        return events.filter(isWanted)
    }

    private func isWanted(_ event: Event) -> Bool {
        guard let audienceSnapshot else { return selection.viewer == nil && selection.admits(FilterSubject(event)) }
        return audienceSnapshot.admits(event) && selection.admitsBesideChannel(FilterSubject(event))
    }
}

/// The position that a resuming reader really starts from, and whether it has lost something.
public struct ResumePosition: Sendable, Equatable {
    /// Why a reader has a gap.
    public enum Gap: String, Sendable {
        /// Retention of the app or of a type has ended events that it could have heard.
        case retention
        /// The gateway was restored from a backup, and what came after that is lost.
        case restore
        /// The position lies in the future: it is another gateway's, or of this one before a restore.
        case future
        /// The id that it sent is no position of a gateway.
        case unknown
    }

    public var requested: String
    public var from: Timetoken
    /// Nil: everything after the position follows.
    public var gap: Gap?

    public init(requested: String, from: Timetoken, gap: Gap? = nil) {
        self.requested = requested
        self.from = from
        self.gap = gap
    }
}

extension ChatAccess {
    /// The events of a selection after one position up to another. What a message said that is marked as deleted is null,
    /// whoever reads: many read the same pages.
    ///
    /// - Parameter hearing: of a selection with a viewer, taken in the turn in which the hub was at `upTo`; nothing is
    ///   admitted without.
    public func catchUp(
        _ selection: Selection, audienceSnapshot: AudienceSnapshot? = nil, after: Timetoken, upTo: Timetoken
    ) -> CatchUp {
        CatchUp(
            log: log, selection: selection, audienceSnapshot: audienceSnapshot, after: after, upTo: upTo,
            deletedTexts: showsDeletedTexts ? nil : DeletedTexts(log: log, directory: directory))
    }

    /// Reads a cursor as clients send it: a timetoken, an RFC 3339 time, `earliest` or `latest`.
    ///
    /// `earliest` and `0`, which ask for what there is, are never a gap. A position after which something is lost that the
    /// selection could have heard resumes before the oldest event still kept; one in the future resumes now. Both are
    /// gaps, and are said.
    ///
    /// - Parameter toleratesUnknown: for an id that a stream gave out: anything but a timetoken is a gap and resumes now.
    /// - Throws: `.malformed` for anything else otherwise.
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
                    "the cursor must be a timetoken of 17 digits, '0', 'earliest', 'latest', or an RFC 3339 time",
                    slug: "bad_cursor")
            }
            // What is said again of it is bounded, whatever was sent.
            return ResumePosition(
                requested: String(cursor.prefix(64)), from: try await log.watermark(of: app), gap: .unknown)
        }
        guard asked > .zero else { return ResumePosition(requested: cursor, from: .zero) }
        // The loss first: it is never above a watermark that is read later.
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
