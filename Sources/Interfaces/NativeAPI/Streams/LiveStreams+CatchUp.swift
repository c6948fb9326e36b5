import ChatCore
import ChatModel
import LongPolling
import HTTPServer
import Locking

/// Catch-up: sends resuming streams the events that they missed, without delaying live streams.
///
/// Pages of bounded size are read and printed off the loop, and the streams of one feed share the pages. The semaphore
/// `turns` limits the number of streams that are served at the same time. The stream that has waited longest is next. A
/// stream releases the semaphore while it waits for its client to read, so slow clients delay no other stream.
extension LiveStreams {
    private enum Bounds {
        /// The target size of a page in bytes; the number of events to read is derived from it.
        static let pageBytes = 128 * 1024
        static let firstPage = 64
        static let pageMost = 250
        /// The maximum size in bytes of the part of a page that is sent in one write. Memory contains at most one part
        /// for each client. A single event may be larger.
        static let pieceBytes = 16 * 1024
        /// The number of seconds in which a client must read one part of a page. A slower client is disconnected. The
        /// stall timeout of the connection covers only clients that read nothing at all.
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
            // Once the stream is live, another catch-up may begin at any time, so this one must stop. Otherwise each of
            // the two could reset the access check that the other needs.
            guard !isLive else { return }
            // The calls above may return without suspending: pages may be cached, and the client may read without
            // delay. This call lets other work run.
            await Task.yield()
        } while stream.connection.isOpen
    }

    /// Sends the stream the next page, or the part of the page that the client reads immediately. Returns true when the
    /// stream is live after that.
    private func advance(_ stream: LiveStream, _ limit: inout Int) async -> Bool {
        guard stream.connection.isOpen, !stream.needsRecheck else { return false }
        let feed = stream.feed
        // The selection was changed in the meantime, and the new feed's log is not complete up to the stream's
        // position.
        guard feed.isComplete(through: stream.position) else { return false }
        if let entry = pageCache.entry(
            of: feed, after: stream.position, deletions: service.deletions, now: service.clock.now)
        {
            return send(entry, to: stream)
        }
        do throws(ChatError) {
            let entry = try await read(feed, for: stream, limit: limit)
            limit = entry.page.nextLimit(upTo: Bounds.pageMost, for: Bounds.pageBytes)
            // The selection was changed during the read. The events of the new selection are read from the same
            // position.
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
        // Two values must be read in the same iteration of the loop: the position up to which the store is read, and
        // the end of the feed's byte log (the mark). Held-back events are flushed first, so that they are before the
        // mark: the store returns them. An event that waits for its included objects is appended after the mark.
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
        // The feed's log after the mark may contain events that the user may no longer receive, and it lacks the events
        // that the feed has discarded since the read. The next page reads the log again.
        return page.isLast && !stream.needsRecheck && entry.losses == stream.feed.losses
            && goLive(stream, at: entry.mark)
    }

    private func goLive(_ stream: LiveStream, at mark: UInt64) -> Bool {
        let log = stream.feed.log
        guard stream.connection.join(log, at: mark) else {
            // The feed's byte log has already discarded the bytes at the mark, so the next page is read from the store.
            // The log is enlarged, so that it keeps events longer and the catch-up ends at any rate of writes.
            log.reserve(4 * log.allocatedBytes)
            return false
        }
        stream.catchUp = nil
        catchingUp[stream.sequence] = nil
        return true
    }

    /// Waits until the client has read everything that was sent. Returns false when the stream has ended.
    private func hasTaken(_ stream: LiveStream) async -> Bool {
        guard stream.connection.lag > 0 else { return stream.connection.isOpen }
        do {
            try await stream.connection.sendPage([])
            return true
        } catch {
            return false
        }
    }

    /// Sends heartbeats to streams that catch up. A feed sends heartbeats only to the live streams on its log.
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
