public import ChatModel

/// The events of a selection between two positions, read from the store in bounded pages.
///
/// History and live are joined by whoever owns the live side, in this order: attach to the hub, note in one turn the
/// hub's position and the live side's mark, read with this sequence up to that position, go live at the mark. Nothing is
/// missing, because everything above the position is behind the mark; nothing comes twice, because nothing at or below
/// it is.
public struct CatchUp: AsyncSequence, Sendable {
    public typealias Element = [Event]
    public typealias Failure = ChatError

    let log: any EventLog
    let selection: Selection
    let after: Timetoken
    let upTo: Timetoken
    let pageSize: Int

    public func makeAsyncIterator() -> Iterator { Iterator(catchUp: self, position: after) }

    public struct Iterator: AsyncIteratorProtocol {
        let catchUp: CatchUp
        var position: Timetoken

        /// The next page that holds something; nil when everything up to the end has been looked at.
        public mutating func next() async throws(ChatError) -> [Event]? {
            try await page(nil)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(ChatError) -> [Event]? {
            try await page(actor)
        }

        private mutating func page(_ actor: isolated (any Actor)?) async throws(ChatError) -> [Event]? {
            while position < catchUp.upTo {
                let page = try await catchUp.log.events(
                    in: catchUp.selection.channels, after: position, limit: catchUp.pageSize)
                position = page.position
                let wanted = page.items.filter {
                    $0.timetoken <= catchUp.upTo && catchUp.selection.admits(FilterSubject($0))
                }
                if !wanted.isEmpty { return wanted }
                if !page.hasMore { return nil }
            }
            return nil
        }
    }
}

/// Where a resuming reader really starts, and whether events may be missing before that.
public struct Resumption: Sendable, Equatable {
    public var requested: String
    public var from: Timetoken
    /// True when the position lies before what is still kept, or in the future: the reader has a gap.
    public var hasGap: Bool
}

extension Chat {
    /// The events of a selection after one position up to another.
    public func catchUp(_ selection: Selection, after: Timetoken, upTo: Timetoken) -> CatchUp {
        CatchUp(log: log, selection: selection, after: after, upTo: upTo, pageSize: limits.pageMost)
    }

    /// Reads a cursor as clients send it: a timetoken, `earliest`, or `latest`.
    ///
    /// A cursor below what retention has left resumes at the oldest position there is; one above the watermark (of
    /// another installation, or of a restored copy) resumes now. Both are gaps, and are said.
    /// - Throws: `.malformed` for anything else.
    public func resume(at cursor: String) async throws(ChatError) -> Resumption {
        let floor = try await log.floor(of: space)
        let watermark = try await log.watermark(of: space)
        switch cursor {
        case "earliest": return Resumption(requested: cursor, from: floor, hasGap: false)
        case "latest": return Resumption(requested: cursor, from: watermark, hasGap: false)
        default:
            guard let asked = Timetoken(text: cursor) else {
                throw ChatError(
                    .malformed, "the cursor must be one this gateway gave out, 'earliest' or 'latest'",
                    slug: "bad_cursor")
            }
            let from = min(max(asked, floor), watermark)
            return Resumption(requested: cursor, from: from, hasGap: from != asked)
        }
    }
}
