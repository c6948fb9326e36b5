/// Finds the end and the id of the last server-sent event in a buffer. It scans backwards, because only the last event
/// matters.
enum FrameScan {
    private static let newline = UInt8(ascii: "\n")

    /// Returns the position after the last empty line, which ends the last complete event; nil when there is no empty
    /// line.
    static func lastEnd(
        _ start: UnsafeMutableRawPointer, _ end: UnsafeMutableRawPointer
    ) -> UnsafeMutableRawPointer? {
        var place = end
        while place - start >= 2 {
            if place.load(fromByteOffset: -1, as: UInt8.self) == newline,
                place.load(fromByteOffset: -2, as: UInt8.self) == newline
            {
                return place
            }
            place -= 1
        }
        return nil
    }

    /// Returns the value of the last `id:` line; nil when there is none.
    static func lastID(_ start: UnsafeMutableRawPointer, _ end: UnsafeMutableRawPointer) -> UnsafeRawBufferPointer? {
        var lineEnd = end
        var place = end
        while place > start {
            place -= 1
            let isLineStart = place == start || place.load(fromByteOffset: -1, as: UInt8.self) == newline
            guard isLineStart else { continue }
            let line = UnsafeRawBufferPointer(start: place, count: lineEnd - place)
            if line.count > 3, line[0] == UInt8(ascii: "i"), line[1] == UInt8(ascii: "d"), line[2] == UInt8(ascii: ":")
            {
                var value = line.dropFirst(line[3] == 0x20 ? 4 : 3)
                while value.last == newline || value.last == 0x0D { value = value.dropLast() }
                return UnsafeRawBufferPointer(rebasing: value)
            }
            lineEnd = place
        }
        return nil
    }
}

/// The last event id of a stream, which is sent on reconnect. Stored in place, without an allocation.
struct LastEventID {
    private(set) var count = 0
    private var bytes: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0, 0)

    mutating func set(_ id: UnsafeRawBufferPointer) {
        let length = min(id.count, MemoryLayout.size(ofValue: bytes))
        withUnsafeMutableBytes(of: &bytes) { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: id.prefix(length))) }
        count = length
    }

    var text: String {
        withUnsafeBytes(of: bytes) { String(decoding: $0.prefix(count), as: UTF8.self) }
    }
}
