import ChatModel
import Synchronization

/// A number that grows with each deletion of events.
final class DeletionCounter: Sendable {
    private let value = Atomic<UInt64>(0)

    var count: UInt64 { value.load(ordering: .acquiring) }

    func add() { value.add(1, ordering: .releasing) }

    /// Counts the deletion that an event reports, if it reports one.
    func record(_ event: Event) {
        if event.type == "message.deleted" || event.type == "channel.events_deleted" { add() }
    }
}
