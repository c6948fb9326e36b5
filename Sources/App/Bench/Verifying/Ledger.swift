/// Records the events that each reader must receive, and detects missing, repeated and reordered events as they arrive.
///
/// A publisher sends its next event after the response to the previous event, so its events have an order on each
/// channel. The order between events of two publishers is known only if the event ids are numbers that grow on every
/// stream. Other ids are not compared.
final class Ledger {
    let publishers: Int
    let latency = Histogram()
    /// True when readers must receive every event once and in order; false when they may receive events repeatedly and
    /// in any order.
    var isOrdered = true
    /// The readers whose latencies are measured.
    var timed = 0..<Int.max
    /// The number of distinct events that arrived, over all readers.
    private(set) var delivered = 0
    private(set) var duplicates = 0
    private(set) var misordered = 0
    /// The number of events whose id is not greater than the previous id on the same stream.
    private(set) var regressions = 0
    /// The number of events that arrived at a reader of another channel.
    private(set) var misdirected = 0
    /// The number of deliveries that the published events require.
    private(set) var owed = 0

    private let readers: Int
    private let channels: Int
    /// The next expected sequence number of each pair of reader and publisher.
    private let expected: UnsafeMutablePointer<UInt32>
    /// The next sequence number of each pair of channel and publisher.
    private let published: UnsafeMutablePointer<UInt32>
    private let readersOfChannel: UnsafeMutablePointer<UInt32>
    /// The lowest permitted id of each reader's next event.
    private let nextIDs: UnsafeMutablePointer<UInt64>
    /// The sequence numbers that were skipped and may still arrive.
    private var missing: Set<Skipped> = []

    private struct Skipped: Hashable {
        let row: Int
        let sequence: UInt32
    }

    /// The maximum number of skipped events in `missing`. On streams, a run without errors skips no events. When
    /// `missing` is full, a further skipped event is not added to it, and counts as repeated when it arrives.
    private static let mostSkipped = 1_000_000

    init(readers: Int, channels: Int, publishers: Int) {
        (self.readers, self.channels, self.publishers) = (readers, channels, publishers)
        expected = .allocate(capacity: max(1, readers * publishers))
        expected.initialize(repeating: 0, count: readers * publishers)
        published = .allocate(capacity: channels * publishers)
        published.initialize(repeating: 0, count: channels * publishers)
        readersOfChannel = .allocate(capacity: channels)
        readersOfChannel.initialize(repeating: 0, count: channels)
        nextIDs = .allocate(capacity: max(1, readers))
        nextIDs.initialize(repeating: 0, count: readers)
    }

    deinit {
        expected.deallocate()
        published.deallocate()
        readersOfChannel.deallocate()
        nextIDs.deallocate()
    }

    /// The number of deliveries that are still expected.
    var outstanding: Int { owed - delivered }

    /// Adds a reader to a channel. The reader must receive the events that are published from now on.
    func join(_ reader: Int, channel: Int) {
        readersOfChannel[channel] += 1
        for publisher in 0..<publishers {
            expected[reader * publishers + publisher] = published[channel * publishers + publisher]
        }
    }

    /// Returns the sequence number of the publisher's next event on the channel.
    func next(_ channel: Int, _ publisher: Int) -> UInt32 { published[channel * publishers + publisher] }

    /// Records that the publisher sends its next event on the channel. Call it when the request is sent, because a
    /// reader may receive the event before the response arrives.
    func publish(_ channel: Int, _ publisher: Int) {
        published[channel * publishers + publisher] += 1
        owed += Int(readersOfChannel[channel])
    }

    /// Removes the publisher's last recorded event on the channel, because the server has rejected the event.
    func withdraw(_ channel: Int, _ publisher: Int) {
        published[channel * publishers + publisher] -= 1
        owed -= Int(readersOfChannel[channel])
    }

    /// Returns the number of events published on the channel.
    func published(on channel: Int) -> Int {
        (0..<publishers).reduce(0) { $0 + Int(published[channel * publishers + $1]) }
    }

    /// Records an event that a reader has received. The mark in the event's payload identifies the event.
    ///
    /// - Returns: true when the reader had not received this event before.
    @inline(__always)
    func record(_ mark: PayloadMark, reader: Int, channel: UInt32, at now: UInt64) -> Bool {
        guard mark.channel == channel, Int(mark.publisher) < publishers else {
            misdirected += 1
            return false
        }
        let row = reader &* publishers &+ Int(mark.publisher)
        guard mark.sequence == expected[row] else { return recordUnexpected(mark, row, reader, now) }
        expected[row] &+= 1
        count(mark, reader, now)
        return true
    }

    /// Records the numeric id of an event that a reader has received. Counts a regression if the id is not greater than
    /// the reader's previous id.
    @inline(__always)
    func record(id: UInt64, reader: Int) {
        if id < nextIDs[reader] { regressions &+= 1 }
        nextIDs[reader] = id &+ 1
    }

    @inline(__always)
    private func count(_ mark: PayloadMark, _ reader: Int, _ now: UInt64) {
        delivered &+= 1
        if timed.contains(reader) { latency.add(now &- min(mark.nanoseconds, now)) }
    }

    private func recordUnexpected(_ mark: PayloadMark, _ row: Int, _ reader: Int, _ now: UInt64) -> Bool {
        if mark.sequence > expected[row] {
            for sequence in expected[row]..<mark.sequence {
                guard missing.count < Self.mostSkipped else { break }
                missing.insert(Skipped(row: row, sequence: sequence))
            }
            expected[row] = mark.sequence + 1
        } else if missing.remove(Skipped(row: row, sequence: mark.sequence)) != nil {
            misordered += 1
        } else {
            duplicates += 1
            return false
        }
        count(mark, reader, now)
        return true
    }

    /// The number of deliveries that did not arrive. Valid once no more events arrive.
    var lost: Int { max(0, outstanding) }
    /// True when every event arrived at its readers and, if `isOrdered` is true, once and in order.
    var isClean: Bool {
        lost == 0 && misdirected == 0 && (!isOrdered || (duplicates == 0 && misordered == 0 && regressions == 0))
    }
}
