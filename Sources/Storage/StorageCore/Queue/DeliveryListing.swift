package import ChatModel

/// A validated query for a list of deliveries. It is validated before a connection is used.
package struct DeliveryListing: Sendable {
    package let query: DeliveryQuery
    /// The key of the last delivery of the previous page; nil for the first page.
    private let end: DeliveryKey?

    /// Validates a query and parses its cursor.
    ///
    /// - Throws: `.malformed` for an invalid cursor.
    package init(_ query: DeliveryQuery) throws(ChatError) {
        self.query = query
        guard let cursor = query.cursor else {
            end = nil
            return
        }
        guard case .integer(let event)? = ListCursor.values(cursor)?.first, event >= 0,
            case .integer(let subscriber)? = ListCursor.values(cursor)?.last, ListCursor.values(cursor)?.count == 2
        else { throw .badCursor }
        end = DeliveryKey(event: UInt64(event), subscriber: subscriber)
    }

    private var isDescending: Bool { query.order == .newestFirst }

    /// True when `left` comes before `right` in the order of the list.
    package func isBefore(_ left: DeliveryKey, _ right: DeliveryKey) -> Bool {
        let (first, second) = isDescending ? (right, left) : (left, right)
        return (first.event, first.subscriber) < (second.event, second.subscriber)
    }

    /// Returns exclusive bounds for the event timetokens of a subscriber's deliveries on the page. The bounds exclude
    /// deliveries outside the query's range and deliveries of the previous pages.
    ///
    /// - Parameter last: the last delivery that the page can contain. The bounds exclude the events that come after
    ///   the event of `last` in the order of the list.
    private func bounds(_ subscriber: Int64, upTo last: DeliveryKey? = nil) -> (after: UInt64, before: UInt64) {
        var after = query.after?.rawValue ?? 0
        var before = query.before?.rawValue ?? UInt64(Int64.max)
        if let event = query.event?.rawValue, event > 0 {
            after = max(after, event - 1)
            before = min(before, event + 1)
        }
        if isDescending {
            if let end { before = min(before, subscriber < end.subscriber ? end.event + 1 : end.event) }
            if let last { after = max(after, max(1, last.event) - 1) }
        } else {
            if let end { after = max(after, subscriber > end.subscriber ? max(1, end.event) - 1 : end.event) }
            if let last { before = min(before, last.event + 1) }
        }
        return (after, before)
    }

    /// Returns the selections that together contain the deliveries of these subscribers that match the query.
    package func parts(of subscribers: [(number: Int64, isOpen: Bool)]) -> [DeliveryPart] {
        let statuses = query.statuses.isEmpty ? Set(DeliveryStatus.allCases) : query.statuses
        return subscribers.flatMap { number, isOpen in
            let (after, before) = bounds(number)
            return Self.states(isOpen: isOpen, statuses).map { state, hasFailed in
                DeliveryPart(subscriber: number, state: state, hasFailed: hasFailed, after: after, before: before)
            }
        }
    }

    /// Excludes the deliveries of a selection that come after `last` in the order of the list.
    package func narrowed(_ part: DeliveryPart, upTo last: DeliveryKey) -> DeliveryPart {
        let (after, before) = bounds(part.subscriber, upTo: last)
        return DeliveryPart(
            subscriber: part.subscriber, state: part.state, hasFailed: part.hasFailed, after: after, before: before)
    }

    /// Returns the stored states, with a further condition for waiting deliveries, that together contain a subscriber's
    /// deliveries with these public statuses.
    private static func states(
        isOpen: Bool, _ statuses: Set<DeliveryStatus>
    ) -> [(state: StoredState, hasFailed: Bool?)] {
        var states: [(StoredState, Bool?)] = []
        if statuses.contains(.delivered) { states.append((.delivered, nil)) }
        if statuses.contains(.dead) { states.append((.dead, nil)) }
        let hasPending = statuses.contains(.pending)
        if isOpen ? hasPending && statuses.contains(.failed) : statuses.contains(.held) {
            states.append((.waiting, nil))
        } else if isOpen, hasPending || statuses.contains(.failed) {
            states.append((.waiting, !hasPending))
        }
        return states
    }
}

/// The selection of deliveries to read: one subscriber, one state, and exclusive bounds of the events.
package struct DeliveryPart: Sendable {
    package let subscriber: Int64
    package let state: StoredState
    /// A further condition for waiting deliveries: true selects deliveries with a failed attempt, false deliveries
    /// without one, and nil both.
    package let hasFailed: Bool?
    package let after: UInt64
    package let before: UInt64

    package init(
        subscriber: Int64, state: StoredState, hasFailed: Bool? = nil, after: UInt64, before: UInt64
    ) {
        self.subscriber = subscriber
        self.state = state
        self.hasFailed = hasFailed
        self.after = after
        self.before = before
    }
}

extension DeliveryKey {
    /// The cursor of the page that begins after this delivery, for both orders.
    package var listCursor: String { ListCursor.text([.integer(Int64(event)), .integer(subscriber)]) }
}
