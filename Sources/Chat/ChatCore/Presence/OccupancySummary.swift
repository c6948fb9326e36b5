import ChatModel
import JSON

/// The changes of a busy channel since its last summary: the users who joined and left. A summary is the event
/// `presence.interval`.
struct OccupancySummary {
    /// The size in bytes of the event's data above which the event omits the users' names. Clients then request the list
    /// of present users.
    static let bytesMost = 30_000
    /// The maximum number of names to collect. More names cannot fit into the event.
    private static let namesMost = bytesMost / 4

    let due: Timetoken
    /// The number of users on the channel after the last change that was recorded.
    var occupancy = 0
    private var net: [ExactText: PresenceChange.PresenceTransition] = [:]
    private var hasOverflown = false

    init(due: Timetoken) { self.due = due }

    /// Records a change. Joins and leaves of a user alternate, so a second change of the same user cancels the first
    /// one.
    mutating func record(_ change: PresenceChange) {
        occupancy = change.occupancy
        guard !hasOverflown else { return }
        let user = ExactText(change.presenceKey.user)
        net[user] = net[user] == nil ? change.happening : nil
        hasOverflown = net.count > Self.namesMost
        if hasOverflown { net = [:] }
    }

    /// The data of the event; nil when all changes cancelled each other.
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
