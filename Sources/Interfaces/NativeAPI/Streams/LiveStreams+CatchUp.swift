import ChatCore
import ChatModel
import Following
import HTTPServer

/// How streams that resume get what they missed, without those that are live noticing.
///
/// Reading and printing happen off the loop, a bounded page at a time, and streams of one feed share the pages. `turns`
/// bounds how many pages are on their way and lets in who waits longest. A stream has its turn only while it is being
/// served: its socket is waited for without one, so that clients that do not read hold up nobody.
extension LiveStreams {
    private enum Bounds {
        /// A page is read with as many events as should make up this.
        static let pageBytes = 128 * 1024
        static let firstPage = 64
        static let pageMost = 250
        /// What a stream gets at a time: no more than this, and the event it ends with, waits for a client in memory.
        static let pieceBytes = 16 * 1024
        /// In beats: a client that has not taken one piece by then is too slow even for catching up. The connection's
        /// own stall time only sees those who take nothing at all.
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
            guard await mayHear(stream) else { return }
            await stream.feed.reach(stream.position)
            await turns.enter()
            let isLive = await advance(stream, &pageLimit)
            turns.leave()
            // Once it is live, another catch-up may begin at any time. This one must not run on beside it: each would take
            // the other's question who may hear for its own.
            guard !isLive else { return }
            // Nothing above need have waited: pages may be at hand, and the client may be as fast as we are.
            await Task.yield()
        } while stream.connection.isOpen
    }

    /// Sends what a page holds for the stream, or as much of it as its socket takes; true when the stream is live from there.
    private func advance(_ stream: LiveStream, _ limit: inout Int) async -> Bool {
        guard stream.connection.isOpen, !stream.mustBeAsked else { return false }
        let feed = stream.feed
        // Changed meanwhile for one that is still behind.
        guard feed.isComplete(through: stream.position) else { return false }
        if let entry = shelf.entry(
            of: feed, after: stream.position, deletions: service.deletions, now: service.clock.now)
        {
            return send(entry, to: stream)
        }
        do throws(ChatError) {
            let entry = try await read(feed, for: stream, limit: limit)
            limit = entry.page.nextLimit(upTo: Bounds.pageMost, for: Bounds.pageBytes)
            // Changed meanwhile: what the new selection wants is read from the position again.
            guard stream.feed === feed else { return false }
            let isLive = send(entry, to: stream)
            let isWantedAgain = feed.streamCount > 1 || stream.position < entry.page.position
            if isWantedAgain { shelf.keep(entry, of: feed, beat: beats.now) }
            return isLive
        } catch {
            close(stream, .storeUnavailable)
            return false
        }
    }

    private func read(
        _ feed: StreamFeed, for stream: LiveStream, limit: Int
    ) async throws(ChatError) -> PageCache.Entry {
        // One turn: up to where the log is read, and where in the feed's own log that is. What the feed holds back is read
        // as well, and must not come behind the mark again. What waits for its objects comes behind the mark.
        feed.settle()
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
        // What was said since the mark may already be what the user may not hear any more.
        // The feed's log lacks the events that the feed has discarded since then: the next page reads them.
        return page.isLast && !stream.mustBeAsked && entry.losses == stream.feed.losses
            && goLive(stream, at: entry.mark)
    }

    private func goLive(_ stream: LiveStream, at mark: UInt64) -> Bool {
        let log = stream.feed.log
        guard stream.connection.join(log, at: mark) else {
            // The log has moved past the mark meanwhile: the next page reads what it held, and a larger log holds it
            // longer, so that this comes to an end however much is written.
            log.reserve(4 * log.allocatedBytes)
            return false
        }
        stream.catchUp = nil
        catchingUp[stream.sequence] = nil
        return true
    }

    /// Returns when the client has read what it was sent; false when the stream is over.
    private func hasTaken(_ stream: LiveStream) async -> Bool {
        guard stream.connection.lag > 0 else { return stream.connection.isOpen }
        do {
            try await stream.connection.sendPage([])
            return true
        } catch {
            return false
        }
    }

    /// Feeds speak only to those who have joined them.
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
