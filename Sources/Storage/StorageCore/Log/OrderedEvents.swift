package import ChatModel

extension [Event] {
    /// Returns the event with this timetoken, found by binary search; nil when there is none. The array must be in
    /// timetoken order.
    package func event(at timetoken: Timetoken) -> Event? {
        let index = self.index(after: timetoken)
        return index > 0 && self[index - 1].timetoken == timetoken ? self[index - 1] : nil
    }

    /// Returns the index of the first event after `position`; `count` when there is none.
    package func index(after position: Timetoken) -> Int { index(above: position.rawValue) { $0.timetoken.rawValue } }
}

extension Page<Event> {
    /// Merges other events of the same range into the page. The result is in order and has at most `limit` events.
    package mutating func merge(_ others: [Event], limit: Int) {
        guard !others.isEmpty else { return }
        items = (items + others).sorted { $0.timetoken < $1.timetoken }
        guard items.count > limit else { return }
        items.removeSubrange(limit...)
        hasMore = true
        position = items[limit - 1].timetoken
    }
}
