import ChatCore
import ChatModel

/// A stretch of the log as the streams of one feed get it: read and printed once, sent to each that needs it, from
/// wherever in it that stream stands.
struct CatchUpPage: Sendable {
    /// Holds what lies above, up to and including `position`.
    let after: Timetoken
    private(set) var position: Timetoken
    /// Whether that is all there was; live begins behind it.
    private(set) var isLast = false
    private(set) var bytes: [UInt8] = []
    /// When the first of its events is over.
    private(set) var expires: Timetoken = .distantFuture
    /// Where each event's block ends.
    private var ends: [(event: Timetoken, offset: Int)] = []

    private init(after: Timetoken) {
        self.after = after
        position = after
    }

    /// Reads and prints, on whatever thread is free.
    ///
    /// - Parameters:
    ///   - chat: the app as the stream's owner may use it.
    ///   - inclusion: the objects to print beside each event; nil for none.
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

    /// Whole blocks of the events above a position, at least one; nil when there are none.
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

    /// How many events the next page should have to weigh about `size`.
    func nextLimit(upTo most: Int, for size: Int) -> Int {
        guard !ends.isEmpty else { return most }
        return min(most, max(1, size * ends.count / max(1, bytes.count)))
    }
}
