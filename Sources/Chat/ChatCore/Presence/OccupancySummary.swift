import ChatModel
import JSON

/// Who came and went on a busy channel since that was last told (`pubnub-wire.md` 11.8).
struct OccupancySummary {
    /// Beyond it the names are left out of the event: who wants to know asks who is there.
    static let bytesMost = 30_000
    /// More names than this cannot fit.
    private static let namesMost = bytesMost / 4

    let due: Timetoken
    private(set) var occupancy = 0
    private var net: [ExactText: PresenceChange.PresenceTransition] = [:]
    private var hasOverflown = false

    init(due: Timetoken) { self.due = due }

    /// Coming and going takes turns, so a second change of the same user undoes the first.
    mutating func note(_ change: PresenceChange) {
        occupancy = change.occupancy
        guard !hasOverflown else { return }
        let user = ExactText(change.presenceKey.user)
        net[user] = net[user] == nil ? change.happening : nil
        hasOverflown = net.count > Self.namesMost
        if hasOverflown { net = [:] }
    }

    /// The event's data; nil when everything is as it was.
    var data: JSONText? {
        if !hasOverflown, net.isEmpty { return nil }
        let full = hasOverflown ? nil : print { writer in names(to: &writer) }
        if let full, full.count <= Self.bytesMost { return full }
        return print { $0.member("here_now_refresh", true) }
    }

    private func print(_ members: (inout JSONWriter) -> Void) -> JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("occupancy", occupancy)
            members(&writer)
            writer.endObject()
        }
    }

    private func names(to writer: inout JSONWriter) {
        for (name, happening) in [("joined", .joined), ("left", .left), ("timed_out", .timedOut)]
            as [(StaticString, PresenceChange.PresenceTransition)]
        {
            writer.member(name, net.filter { $0.value == happening }.keys.sorted().map(\.text))
        }
    }
}
