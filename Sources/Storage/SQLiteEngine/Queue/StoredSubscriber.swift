import ChatModel
import SQLite

/// An endpoint's row.
struct StoredSubscriber: Sendable {
    let number: Int64
    let subscriber: SubscriberID
    let settings: LaneSettings
    /// What is left of putting its items into a new order.
    let reordering: Reordering
}

/// The steps of bringing an endpoint's waiting items into the order of its settings. Each is done in stretches, and the row
/// says which one is under way: a crash in between costs nothing but the time.
enum Reordering: Int, Sendable {
    case done = 0
    /// Chains of an earlier ordering are dissolved.
    case loosen = 1
    /// Every item gets its chain, and its place in line.
    case chain = 2
    /// The first of each chain becomes due.
    case lead = 3
}

extension Statement {
    static let subscriberColumns =
        "id, app, name, state, concurrency, ordering, rate, batch, pulled, attempts, reordering"

    /// Columns ``subscriberColumns``.
    var storedSubscriber: StoredSubscriber {
        var settings = LaneSettings(state: LaneState(rawValue: Int(integer(3))) ?? .open, concurrency: Int(integer(4)))
        settings.ordering = DeliveryOrdering(rawValue: Int(integer(5))) ?? .none
        settings.rate = isNull(6) ? nil : double(6)
        settings.batch = Int(integer(7))
        settings.isPulled = integer(8) != 0
        settings.attempts = optionalInteger(9).map { Int($0) }
        return StoredSubscriber(
            number: integer(0), subscriber: SubscriberID(text(2), in: AppID(text(1))), settings: settings,
            reordering: Reordering(rawValue: Int(integer(10))) ?? .done)
    }
}

extension LaneSettings {
    /// As they can be kept: nothing below one.
    var bounded: LaneSettings {
        var settings = self
        settings.concurrency = ordering == .strict ? 1 : max(1, concurrency)
        settings.batch = max(1, batch)
        settings.attempts = attempts.map { max(1, $0) }
        settings.rate = rate.flatMap { $0 > 0 ? $0 : nil }
        return settings
    }
}
