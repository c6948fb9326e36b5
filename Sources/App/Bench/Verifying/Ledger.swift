/// Who has been sent what: finds events that are missing, come twice or out of order, as they are read.
///
/// A publisher sends its next event when the last was answered, so its events have an order on each channel; between two
/// publishers there is only what the server says, by ids that are numbers and grow on every stream. Other ids are not
/// compared.
final class Ledger {
    let publishers: Int
    let latency = Histogram()
    /// Whether a reader is promised every event once and in order, or at least once.
    var isOrdered = true
    /// The readers whose latencies are of interest.
    var timed = 0..<Int.max
    /// Distinct events that arrived, of all readers.
    private(set) var delivered = 0
    private(set) var duplicates = 0
    private(set) var misordered = 0
    /// Events whose id is not above the one before it on the same stream.
    private(set) var regressions = 0
    /// Events of another channel than the reader's.
    private(set) var misdirected = 0
    /// Deliveries that published events lead to.
    private(set) var owed = 0

    private let readers: Int
    private let channels: Int
    /// The next sequence, for each reader and publisher, and for each channel and publisher.
    private let expected: UnsafeMutablePointer<UInt32>
    private let published: UnsafeMutablePointer<UInt32>
    private let readersOfChannel: UnsafeMutablePointer<UInt32>
    /// The least id that each reader may have next.
    private let nextIDs: UnsafeMutablePointer<UInt64>
    /// Skipped sequences, which may still come, too late.
    private var missing: Set<Skipped> = []

    private struct Skipped: Hashable {
        let row: Int
        let sequence: UInt32
    }

    /// Skipped events remembered one by one; on streams there is none in a good run. Beyond it, late ones pass for
    /// repeated ones.
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

    /// What is still to come: published, and not read.
    var outstanding: Int { owed - delivered }

    /// A reader of the channel from now on; what was published before is not for it.
    func join(_ reader: Int, channel: Int) {
        readersOfChannel[channel] += 1
        for publisher in 0..<publishers {
            expected[reader * publishers + publisher] = published[channel * publishers + publisher]
        }
    }

    /// The sequence of the next event of this publisher.
    func next(_ channel: Int, _ publisher: Int) -> UInt32 { published[channel * publishers + publisher] }

    /// An event is being published: with the request, as it may be read before the answer comes.
    func publish(_ channel: Int, _ publisher: Int) {
        published[channel * publishers + publisher] += 1
        owed += Int(readersOfChannel[channel])
    }

    /// The server has refused it.
    func withdraw(_ channel: Int, _ publisher: Int) {
        published[channel * publishers + publisher] -= 1
        owed -= Int(readersOfChannel[channel])
    }

    /// How many events the channel has had.
    func published(on channel: Int) -> Int {
        (0..<publishers).reduce(0) { $0 + Int(published[channel * publishers + $1]) }
    }

    /// A mark was read.
    /// - Returns: whether it is an event this reader had not had.
    @inline(__always)
    func take(_ mark: PayloadMark, reader: Int, channel: UInt32, at now: UInt64) -> Bool {
        guard mark.channel == channel, Int(mark.publisher) < publishers else {
            misdirected += 1
            return false
        }
        let row = reader &* publishers &+ Int(mark.publisher)
        guard mark.sequence == expected[row] else { return takeUnexpected(mark, row, reader, now) }
        expected[row] &+= 1
        count(mark, reader, now)
        return true
    }

    /// An event with a number for its id was read.
    @inline(__always)
    func take(id: UInt64, reader: Int) {
        if id < nextIDs[reader] { regressions &+= 1 }
        nextIDs[reader] = id &+ 1
    }

    @inline(__always)
    private func count(_ mark: PayloadMark, _ reader: Int, _ now: UInt64) {
        delivered &+= 1
        if timed.contains(reader) { latency.add(now &- min(mark.nanoseconds, now)) }
    }

    private func takeUnexpected(_ mark: PayloadMark, _ row: Int, _ reader: Int, _ now: UInt64) -> Bool {
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

    /// Deliveries that have not come; asked when no more will.
    var lost: Int { max(0, outstanding) }
    /// Whether every event came to those it was for: once and in order, where that is promised.
    var isClean: Bool {
        lost == 0 && misdirected == 0 && (!isOrdered || (duplicates == 0 && misordered == 0 && regressions == 0))
    }
}
