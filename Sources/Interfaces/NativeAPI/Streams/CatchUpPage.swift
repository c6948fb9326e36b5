import ChatCore
import ChatModel

/// A range of the log, printed for the streams of one feed. It is read and printed once. Each stream receives the part
/// after its own position.
struct CatchUpPage: Sendable {
    /// The exclusive lower bound: the page contains the events after this timetoken, up to and including `position`.
    let after: Timetoken
    private(set) var position: Timetoken
    /// True when the log had no later events at the time of the read. A stream goes live after such a page.
    private(set) var isLast = false
    private(set) var bytes: [UInt8] = []
    /// The earliest expiry of the page's events.
    private(set) var expires: Timetoken = .distantFuture
    /// For each event, the offset in the printed bytes at which the event's block ends.
    private var ends: [(event: Timetoken, offset: Int)] = []

    private init(after: Timetoken) {
        self.after = after
        position = after
    }

    /// Reads and prints a page on the thread pool.
    ///
    /// - Parameters:
    ///   - chat: the app with the rights of the stream's owner.
    ///   - inclusion: the objects to print with each event; nil when none were requested.
    @concurrent
    static func read(
        _ catchUp: CatchUp, in chat: ChatAccess, _ inclusion: IncludePolicy?, format: StreamFormat, limit: Int
    ) async throws(ChatError) -> CatchUpPage {
        var catchUp = catchUp
        var page = CatchUpPage(after: catchUp.position)
        let events = try await catchUp.nextPage(limit: limit)
        let included = try await chat.included(with: events, inclusion)
        for (index, event) in events.enumerated() {
            page.bytes += format.frame(event, with: included.isEmpty ? nil : included[index].text)
            page.ends.append((event.timetoken, page.bytes.count))
            if let expires = event.draft.expires { page.expires = min(page.expires, expires) }
        }
        page.position = catchUp.position
        page.isLast = catchUp.isOver
        return page
    }

    /// Returns the blocks of the events after a position. The result contains at least one whole block. If it contains
    /// several blocks, it has at most `size` bytes. Nil when the page has no events after the position.
    func piece(after position: Timetoken, of size: Int) -> (bytes: [UInt8], last: Timetoken, isEnd: Bool)? {
        let first = ends.firstIndex { $0.event > position }
        guard let first else { return nil }
        let start = first == 0 ? 0 : ends[first - 1].offset
        var last = first
        while last + 1 < ends.count, ends[last + 1].offset - start <= size { last += 1 }
        let isEnd = last + 1 == ends.count
        let isWhole = first == 0 && isEnd
        return (isWhole ? bytes : Array(bytes[start..<ends[last].offset]), ends[last].event, isEnd)
    }

    /// The number of events to read for the next page, so that the page has about `size` bytes; at most `most`.
    func nextLimit(upTo most: Int, for size: Int) -> Int {
        guard !ends.isEmpty else { return most }
        return min(most, max(1, size * ends.count / max(1, bytes.count)))
    }
}
