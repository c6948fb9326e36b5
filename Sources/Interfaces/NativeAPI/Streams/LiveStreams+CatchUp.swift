import ChatKit
import ChatModel
import HTTPServer

/// How streams that resume get what they missed, without those that are live noticing.
///
/// Reading and printing happen off the loop, a bounded page at a time; pages are sent no faster than the client reads.
/// `slots` bounds the streams that hold a page, `reads` those that ask the store: both let in who waits longest, and a
/// long catch-up goes back to the end of the queue again and again, so that short ones do not wait for it.
extension LiveStreams {
    private enum Bounds {
        static let pagesPerSlot = 16
        /// A page is read with as many events as should make up this, and sent in pieces no larger than about this.
        static let pageBytes = 128 * 1024
        static let firstPage = 64
        static let pageMost = 250
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
        while stream.connection.isOpen, stream.isCatchingUp {
            await slots.enter()
            var pages = 0
            while stream.connection.isOpen, stream.isCatchingUp, pages < Bounds.pagesPerSlot {
                await catchUpPage(stream, &pageLimit)
                pages += 1
            }
            slots.leave()
        }
    }

    private func catchUpPage(_ stream: LiveStream, _ limit: inout Int) async {
        await reads.enter()
        // One turn: up to where the store is read, and where in the feed's log that is.
        let feed = stream.feed
        let mark = feed.log.head
        let reading = service.chat(for: stream.owner.caller)
            .catchUp(feed.selection, after: stream.position, upTo: hubPosition)
        let page: CatchUpPage
        do throws(ChatError) {
            page = try await CatchUpPage.read(reading, format: feed.format, limit: limit, pieceBytes: Bounds.pageBytes)
            reads.leave()
        } catch {
            reads.leave()
            return close(stream, .storeUnavailable)
        }
        limit = page.nextLimit(upTo: Bounds.pageMost, for: Bounds.pageBytes)
        await send(page, to: stream, of: feed, mark: mark)
    }

    private func send(_ page: CatchUpPage, to stream: LiveStream, of feed: StreamFeed, mark: UInt64) async {
        for piece in page.pieces {
            // Changed meanwhile: what the new selection wants is read from the position again.
            guard stream.feed === feed else { return }
            guard stream.connection.send(piece.bytes) else { return }
            stream.position = piece.last
            stream.lastSend = beats.now
            if piece.last == page.pieces.last?.last, page.isLast { break }
            guard await hasTaken(stream) else { return }
        }
        guard stream.feed === feed, stream.connection.isOpen else { return }
        stream.position = max(stream.position, page.position)
        guard page.isLast else { return }
        guard stream.connection.join(feed.log, at: mark) else {
            // The log has moved past the mark meanwhile: the next page reads what it held, and a larger log holds it
            // longer, so that this comes to an end however much is written.
            feed.log.reserve(4 * feed.log.allocatedBytes)
            return
        }
        stream.catchUp = nil
        catchingUp[stream.sequence] = nil
    }

    /// Returns when the client has read most of what it was sent; false when the stream is over.
    private func hasTaken(_ stream: LiveStream) async -> Bool {
        guard stream.connection.lag > 0 else { return true }
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

/// A page of the log as it goes to one stream.
struct CatchUpPage: Sendable {
    /// Whole blocks, and the position a stream has come to with them.
    struct Piece: Sendable {
        var bytes: [UInt8]
        var last: Timetoken
    }

    var pieces: [Piece] = []
    var eventCount = 0
    var byteCount = 0
    /// Everything up to here has been read.
    var position: Timetoken
    /// Whether that is the end of what was to be read.
    var isLast: Bool

    /// Reads and prints, on whatever thread is free.
    @concurrent
    static func read(
        _ catchUp: CatchUp, format: StreamFormat, limit: Int, pieceBytes: Int
    ) async throws(ChatError) -> CatchUpPage {
        var catchUp = catchUp
        let events = try await catchUp.nextPage(limit: limit)
        var page = CatchUpPage(position: catchUp.position, isLast: catchUp.isOver)
        page.eventCount = events.count
        for event in events {
            let frame = format.frame(event)
            page.byteCount += frame.count
            if let last = page.pieces.last, last.bytes.count + frame.count <= pieceBytes {
                page.pieces[page.pieces.count - 1].bytes += frame
                page.pieces[page.pieces.count - 1].last = event.timetoken
            } else {
                page.pieces.append(Piece(bytes: frame, last: event.timetoken))
            }
        }
        return page
    }

    /// How many events the next page should have to weigh about `bytes`.
    func nextLimit(upTo most: Int, for bytes: Int) -> Int {
        guard eventCount > 0 else { return most }
        return min(most, max(1, bytes * eventCount / max(1, byteCount)))
    }
}
