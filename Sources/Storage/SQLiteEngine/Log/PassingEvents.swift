import ChatModel
import Locking

/// Ephemeral events: in memory only, per space, for as long and as many as the limits say. A restart forgets them.
final class PassingEvents: Sendable {
    fileprivate struct Ring: Sendable {
        var events: [Event] = []
        var first = 0
        var bytes = 0

        mutating func add(_ event: Event) {
            events.append(event)
            bytes += event.draft.weight
        }

        mutating func drop(above capacity: Int, olderThan edge: Timetoken) {
            while first < events.count, bytes > capacity || events[first].timetoken < edge {
                bytes -= events[first].draft.weight
                first += 1
            }
            // Cut now and then, not each time: moving the rest down costs as much as the rest is long.
            if first > 256, first > events.count / 4 {
                events.removeFirst(first)
                first = 0
            }
        }
    }

    private let rings = Lock<[AppID: Ring]>([:])
    private let age: Duration
    private let capacity: Int

    init(limits: Limits) {
        age = limits.passingAge
        capacity = limits.passingBytes
    }

    /// Takes the passing ones among `events`, which are newer than all before.
    func add(_ events: [Event], now: Timetoken) {
        let edge = now.adding(.zero - age)
        rings.withLock { rings in
            for event in events where event.retention == .passing {
                rings[event.channel.app, default: Ring()].add(event)
                rings[event.channel.app]?.drop(above: capacity, olderThan: edge)
            }
        }
    }

    /// Lets go of what is too old also where nothing new comes.
    func sweep(now: Timetoken) {
        let edge = now.adding(.zero - age)
        rings.withLock { rings in
            rings = rings.compactMapValues { ring in
                var ring = ring
                ring.drop(above: capacity, olderThan: edge)
                return ring.first < ring.events.count ? ring : nil
            }
        }
    }

    /// The events of one space, or of all, between the bounds (the upper one included), oldest first.
    func events(in app: AppID?, after position: Timetoken, upTo end: Timetoken) -> [Event] {
        let found = rings.withLock { rings in
            if let app { return rings[app].map { [$0.between(position, end)] } ?? [] }
            return rings.values.map { $0.between(position, end) }
        }
        return found.count == 1 ? found[0] : found.joined().sorted { $0.timetoken < $1.timetoken }
    }

    func event(at timetoken: Timetoken, in app: AppID) -> Event? {
        events(in: app, after: Timetoken(max(timetoken.rawValue, 1) - 1), upTo: timetoken).first
    }
}

extension PassingEvents.Ring {
    fileprivate func between(_ position: Timetoken, _ end: Timetoken) -> [Event] {
        let from = max(first, events.index(after: position))
        let to = max(from, events.index(after: end))
        return Array(events[from..<to])
    }
}
