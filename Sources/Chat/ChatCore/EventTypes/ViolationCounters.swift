import ChatModel
import Locking

/// Counts stored events that violate the schema of their type until they are reported to the operators. There is one
/// entry for each type, with the last violating event, because a type in mode `warn` may be violated ten thousand times
/// a second.
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

    /// Adds a count. Also used to return entries that could not be reported.
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

    /// Removes and returns at most `most` entries of each app, to limit the reports sent to one app at a time.
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

    /// An element for each new violation. Ends when the waiting task is cancelled. For one consumer.
    var arrivals: AsyncStream<Void> { wakes.stream }
}
