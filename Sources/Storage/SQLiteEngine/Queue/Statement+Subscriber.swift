import ChatModel
import SQLite
import StorageCore

extension Statement {
    static let subscriberColumns =
        "id, app, name, state, concurrency, ordering, rate, batch, pulled, attempts, reordering"

    /// The subscriber in the current row, whose columns must be ``subscriberColumns``.
    var storedSubscriber: StoredSubscriber {
        var settings = LaneSettings(state: LaneState(rawValue: Int(integer(3))) ?? .open, concurrency: Int(integer(4)))
        settings.ordering = DeliveryOrdering(rawValue: Int(integer(5))) ?? .none
        settings.rate = isNull(6) ? nil : double(6)
        settings.deliveriesPerAttempt = Int(integer(7))
        settings.isPulled = integer(8) != 0
        settings.attempts = optionalInteger(9).map { Int($0) }
        return StoredSubscriber(
            number: integer(0), subscriber: SubscriberID(text(2), in: AppID(text(1))), settings: settings,
            reordering: Reordering(rawValue: Int(integer(10))) ?? .done)
    }
}
