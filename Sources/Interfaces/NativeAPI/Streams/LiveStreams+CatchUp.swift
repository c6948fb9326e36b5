import ChatCore
import ChatModel
import LongPolling
import HTTPServer
import Locking

/// Catch-up: sends resuming streams the events they missed without delaying live streams.
///
/// Pages of bounded size are read and printed off the loop, and streams of one feed share them. `turns` limits how many
/// pages are in progress and admits the stream that has waited longest. A stream occupies a turn only while it is being
/// served. It waits for its socket without one, so that clients that do not read delay no other stream.
extension LiveStreams {
    private enum Bounds {
        /// The target size of a page in bytes; the number of events to read is derived from it.
        static let pageBytes = 128 * 1024
        static let firstPage = 64
        static let pageMost = 250
        /// The size of a piece in bytes. At most one piece, plus the event that crosses its end, waits in memory for a
        /// client.
        static let pieceBytes = 16 * 1024
        /// The time in beats within which a client must take one piece; a slower one is too slow even for catch-up. The
        /// connection's own stall timeout covers only clients that take nothing at all.
        static let pieceDeadline: UInt64 = 60
    }

    func startCatchUp(_ stream: LiveStream) {
        guard !stream.isCatchingUp else { return }
        catchingUp[stream.sequence] = stream
        counters.catchUps += 1
        stream.catchUp = Task { await self.catchUp(stream) }
    }

    private func catchUp(_ stream: LiveStream) async {
        var pageLimit = Bounds.firstPage
        repeat {
            guard await hasTaken(stream) else { return }
            guard await mayReceive(stream) else { return }
            await stream.feed.reach(stream.position)
            await turns.enter()
            let isLive = await advance(stream, &pageLimit)
            turns.leave()
            // Once the stream is live, another catch-up may begin at any time. This one must stop then: two at once
            // would each consume the other's access check.
            guard !isLive else { return }
            // The code above may not have suspended: pages may be cached, and the client may read as fast as they are
            // sent.
            await Task.yield()
        } while stream.connection.isOpen
    }

    /// Sends the page's data for the stream, or as much as its socket takes. Returns true when the stream is live from
    /// there on.
    private func advance(_ stream: LiveStream, _ limit: inout Int) async -> Bool {
        guard stream.connection.isOpen, !stream.needsRecheck else { return false }
        let feed = stream.feed
        // The selection was changed meanwhile, and the new feed is not complete up to the position.
        guard feed.isComplete(through: stream.position) else { return false }
        if let entry = pageCache.entry(
            of: feed, after: stream.position, deletions: service.deletions, now: service.clock.now)
        {
            return send(entry, to: stream)
        }
        do throws(ChatError) {
            let entry = try await read(feed, for: stream, limit: limit)
            limit = entry.page.nextLimit(upTo: Bounds.pageMost, for: Bounds.pageBytes)
            // The selection was changed meanwhile. The events of the new one are read from the position again.
            guard stream.feed === feed else { return false }
            let isLive = send(entry, to: stream)
            let isWantedAgain = feed.streamCount > 1 || stream.position < entry.page.position
            if isWantedAgain { pageCache.keep(entry, of: feed, tick: beats.now) }
            return isLive
        } catch {
            close(stream, .storeUnavailable)
            return false
        }
    }

    private func read(
        _ feed: StreamFeed, for stream: LiveStream, limit: Int
    ) async throws(ChatError) -> PageCache.Entry {
        // These values belong to one turn: the position up to which the log is read, and the matching position in the
        // feed's own log. Events that the feed holds back are read as well and must not appear after the mark again.
        // Events that wait for their included objects appear after the mark.
        feed.flush()
        let mark = feed.log.head
        let losses = feed.losses
        let deletions = service.deletions
        let reading = reading(feed, for: stream)
        counters.pagesRead += 1
        let page = try await CatchUpPage.read(
            reading, in: service.chat(for: stream.owner.caller), feed.inclusion, format: feed.format, limit: limit)
        return PageCache.Entry(page: page, mark: mark, deletions: deletions, losses: losses)
    }

    private func reading(_ feed: StreamFeed, for stream: LiveStream) -> CatchUp {
        let audienceSnapshot = service.hub.assumeIsolated { $0.audienceSnapshot(of: feed.selection) }
        return service.chat(for: stream.owner.caller)
            .catchUp(
                feed.selection, audienceSnapshot: audienceSnapshot, after: stream.position, upTo: logPosition(of: feed))
    }

    private func send(_ entry: PageCache.Entry, to stream: LiveStream) -> Bool {
        let page = entry.page
        while let piece = page.piece(after: stream.position, of: Bounds.pieceBytes) {
            guard stream.connection.send(piece.bytes) else { return false }
            stream.position = piece.last
            stream.lastSend = beats.now
            guard stream.connection.lag == 0 || piece.isEnd else { return false }
        }
        stream.position = max(stream.position, page.position)
        // The feed's log after the mark may hold events that the user may no longer receive. It also lacks the events
        // that the feed has discarded since then; the next page reads those.
        return page.isLast && !stream.needsRecheck && entry.losses == stream.feed.losses
            && goLive(stream, at: entry.mark)
    }

    private func goLive(_ stream: LiveStream, at mark: UInt64) -> Bool {
        let log = stream.feed.log
        guard stream.connection.join(log, at: mark) else {
            // The log has discarded the mark meanwhile. The next page reads the events from the store. A larger log
            // keeps them longer, so the catch-up ends whatever the rate of writes.
            log.reserve(4 * log.allocatedBytes)
            return false
        }
        stream.catchUp = nil
        catchingUp[stream.sequence] = nil
        return true
    }

    /// Returns when the client has read everything it was sent; false when the stream has ended.
    private func hasTaken(_ stream: LiveStream) async -> Bool {
        guard stream.connection.lag > 0 else { return stream.connection.isOpen }
        do {
            try await stream.connection.sendPage([])
            return true
        } catch {
            return false
        }
    }

    /// Sends heartbeats to streams that catch up. A feed sends them only to the streams that have joined it.
    func keepCatchUpsAlive(_ now: UInt64) {
        for stream in catchingUp.values where now - stream.lastSend >= heartbeatSeconds {
            if stream.connection.lag == 0 {
                stream.connection.send(stream.feed.format.heartbeat)
                stream.lastSend = now
            } else if now - stream.lastSend >= Bounds.pieceDeadline {
                stream.connection.cut()
            }
        }
    }
}
