package import ChatModel

/// The ephemeral events of each app. They exist only in memory and are lost at a restart. Their age and number are
/// limited.
package struct PassingEvents: Sendable {
    /// The events of one app.
    fileprivate struct Ring: Sendable {
        let app: AppID
        var events: [Event] = []
        var first = 0
        var bytes = 0

        mutating func add(_ event: Event, capacity: Int, olderThan edge: Timetoken) {
            events.append(event)
            bytes += event.weight
            drop(above: capacity, olderThan: edge)
        }

        mutating func drop(above capacity: Int, olderThan edge: Timetoken) {
            while first < events.count, bytes > capacity || events[first].timetoken < edge {
                bytes -= events[first].weight
                first += 1
            }
            // Expired entries are removed only when there are many, because each removal moves all remaining entries.
            if first > 256, first > events.count / 4 {
                events.removeFirst(first)
                first = 0
            }
        }
    }

    /// The rings of all apps that have events.
    private struct Rings: Sendable {
        var all: [Ring] = []
        private var indices: [AppID: Int] = [:]
        /// The index of the ring that was used last. Most events belong to the same app as the event before them, so
        /// their app is compared with the app of this ring and not hashed.
        private var latest = 0

        subscript(app: AppID) -> Ring? { indices[app].map { all[$0] } }

        mutating func add(_ event: Event, capacity: Int, olderThan edge: Timetoken) {
            if latest >= all.count || !event.isOf(all[latest].app) { latest = index(of: event.channel.app) }
            all[latest].add(event, capacity: capacity, olderThan: edge)
        }

        private mutating func index(of app: AppID) -> Int {
            if let index = indices[app] { return index }
            all.append(Ring(app: app))
            indices[app] = all.count - 1
            return all.count - 1
        }

        mutating func drop(above capacity: Int, olderThan edge: Timetoken) {
            for index in all.indices { all[index].drop(above: capacity, olderThan: edge) }
            all.removeAll { $0.first == $0.events.count }
            indices = Dictionary(uniqueKeysWithValues: all.indices.map { (all[$0].app, $0) })
        }
    }

    private var rings = Rings()
    /// The maximum age of the events, in ticks of timetokens.
    private let age: UInt64
    private let capacity: Int

    package init(limits: Limits) {
        age = UInt64(limits.passingAge.timetokenTicks)
        capacity = limits.passingBytes
    }

    /// The timetoken before which events are expired.
    private func edge(at now: Timetoken) -> Timetoken { Timetoken(now.rawValue - min(now.rawValue, age)) }

    /// Stores the ephemeral events among `events`. All events must be newer than the events stored before.
    package mutating func add(_ events: [Event], now: Timetoken) {
        let edge = edge(at: now)
        for event in events where event.retention == .passing {
            rings.add(event, capacity: capacity, olderThan: edge)
        }
    }

    /// Removes expired events in all apps, including apps that receive no new events.
    package mutating func sweep(now: Timetoken) { rings.drop(above: capacity, olderThan: edge(at: now)) }

    /// Returns the events of an app after `position`, up to and including `end`, oldest first.
    package func events(in app: AppID, after position: Timetoken, upTo end: Timetoken) -> [Event] {
        rings[app].map { $0.between(position, end) } ?? []
    }

    /// Returns the events of all apps after `position`, up to and including `end`, app by app.
    package func events(after position: Timetoken, upTo end: Timetoken) -> [Event] {
        rings.all.flatMap { $0.between(position, end) }
    }
}

extension PassingEvents.Ring {
    fileprivate func between(_ position: Timetoken, _ end: Timetoken) -> [Event] {
        let from = max(first, events.index(after: position))
        let to = max(from, events.index(after: end))
        return Array(events[from..<to])
    }
}
