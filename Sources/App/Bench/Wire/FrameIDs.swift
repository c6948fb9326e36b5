/// Finds the id of each event of a stream, if the ids are numbers.
///
/// In the text of an event, the id comes before the mark of the payload (``PayloadMark``). In a stream of one channel,
/// the distance from the id to the mark is constant. The distance is found by one search and then used for all events.
struct FrameIDs {
    /// The distance in bytes from the id to the mark; 0 before it was found.
    private var distance: UInt16 = 0
    /// The number of consecutive failed searches. After several failed searches, events are assumed to have no ids.
    private var misses: UInt8 = 0

    /// Returns the id of an event.
    ///
    /// - Parameters:
    ///   - mark: the start of the event's mark.
    ///   - start: the start of the search: the end of the previous mark, or the first available byte.
    /// - Returns: the id; nil when the event has no id, when the id is not a number, or when the id is no longer in the
    ///   buffer because it arrived in an earlier piece.
    @inline(__always)
    mutating func number(
        before mark: UnsafeMutableRawPointer, from start: UnsafeMutableRawPointer
    ) -> UInt64? {
        guard misses < 8 else { return nil }
        if mark - start < Int(distance) { return nil }
        if distance == 0 || !Self.isID(mark - Int(distance)) { find(before: mark, from: start) }
        guard distance > 0 else { return nil }
        return Self.number(mark - Int(distance) + 3, mark)
    }

    private mutating func find(before mark: UnsafeMutableRawPointer, from start: UnsafeMutableRawPointer) {
        distance = 0
        var place = mark - min(mark - start, Int(UInt16.max))
        while mark - place > 3 {
            let isLine = place == start || place.load(fromByteOffset: -1, as: UInt8.self) == 0x0A
            if isLine, Self.isID(place) {
                (distance, misses) = (UInt16(mark - place), 0)
                return
            }
            place += 1
        }
        misses += 1
    }

    /// Returns true when `id:` is at the beginning of a line.
    @inline(__always)
    private static func isID(_ place: UnsafeMutableRawPointer) -> Bool {
        place.load(as: UInt8.self) == 0x69 && place.load(fromByteOffset: 1, as: UInt8.self) == 0x64
            && place.load(fromByteOffset: 2, as: UInt8.self) == 0x3A
    }

    @inline(__always)
    private static func number(_ start: UnsafeMutableRawPointer, _ end: UnsafeMutableRawPointer) -> UInt64? {
        var place = start.load(as: UInt8.self) == 0x20 ? start + 1 : start
        var (value, digits): (UInt64, Int) = (0, 0)
        while place < end {
            let digit = place.load(as: UInt8.self) &- 0x30
            if digit > 9 {
                // The id must end at the end of its line. An id with any other character is not a number.
                return digits > 0 && (digit == 0xDA || digit == 0xDD) ? value : nil
            }
            guard digits < 19 else { return nil }
            value = value &* 10 &+ UInt64(digit)
            digits += 1
            place += 1
        }
        return nil
    }
}
