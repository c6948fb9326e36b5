import ChatModel
import SQLite

/// Reads a lane's earliest items on the writer's thread, where nothing can come between the rows and what memory makes of them.
final class FetchWish: Wish {
    let since: UInt64
    private let lane: Int64
    private let board: Board

    init(_ lane: Int64, board: Board, since: UInt64) {
        self.lane = lane
        self.board = board
        self.since = since
    }

    var drafts: Int { 0 }
    var bytes: Int { 0 }
    var needsTransaction: Bool { false }

    func perform(on writer: Writer) throws(SQLiteFailure) { try writer.fetchLane(lane, board: board) }
    func fail(_ error: ChatError) { board.fetchFailed(lane) }
}

/// Records leases that ran out.
final class ExpiryWish: Wish {
    let since: UInt64
    private let leases: [ExpiredLease]
    private let board: Board

    init(_ leases: [ExpiredLease], board: Board, since: UInt64) {
        self.leases = leases
        self.board = board
        self.since = since
    }

    var drafts: Int { 0 }
    var bytes: Int { 0 }
    var needsTransaction: Bool { true }

    func perform(on writer: Writer) throws(SQLiteFailure) { try writer.expire(leases, board: board) }
    func fail(_ error: ChatError) { board.abandonFinish(leases.map(\.key)) }
}
