import ChatModel
import Locking

/// Counts stored events that violate the schema of their type, until the counts are reported to the operators. There is
/// one entry per type, with a count and the last violating event, because there may be thousands of violations per
/// second.
final class ViolationCounters: Sendable {
    struct Tally: Sendable {
        var count: Int
        var last: Event
    }

    struct Name: Hashable, Sendable {
        let app: AppID
        @ExactText var type: String
    }

    private let tallies = Lock<[Name: Tally]>([:])
    private let wakes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    func record(_ event: Event) { add(Tally(count: 1, last: event)) }

    /// Adds a count of violations to the entry of its event type, and updates the last violating event. Also used to
    /// add back counts that could not be reported.
    func add(_ tally: Tally) {
        let name = Name(app: tally.last.channel.app, type: tally.last.type)
        tallies.withLock { tallies in
            guard let known = tallies[name] else {
                tallies[name] = tally
                return
            }
            let last = known.last.timetoken > tally.last.timetoken ? known.last : tally.last
            tallies[name] = Tally(count: known.count + tally.count, last: last)
        }
        wakes.continuation.yield()
    }

    /// Removes and returns at most `most` entries per app, to limit the reports that one app gets at a time.
    func drain(ofEachApp most: Int) -> [Tally] {
        tallies.withLock { tallies in
            var taken: [AppID: Int] = [:]
            var due: [Tally] = []
            for (name, tally) in tallies where taken[name.app, default: 0] < most {
                taken[name.app, default: 0] += 1
                due.append(tally)
            }
            for tally in due { tallies[Name(app: tally.last.channel.app, type: tally.last.type)] = nil }
            if !tallies.isEmpty { wakes.continuation.yield() }
            return due
        }
    }

    /// A sequence that yields an element when there are entries to report: after new violations, and when
    /// ``drain(ofEachApp:)`` has left some entries. The sequence ends when the waiting task is cancelled, and supports
    /// one consumer.
    var arrivals: AsyncStream<Void> { wakes.stream }
}
