import CLinux
import Glibc

/// The mark at the start of a payload: `~ccccc:pppp:ssssssss:tttttttttttttttt~`, in hexadecimal.
///
/// The format is fixed. A reader finds the mark by its first byte and reads it without a JSON parser. The tilde needs
/// no escape in JSON, and occurs nowhere else in a stream.
struct PayloadMark: Equatable {
    static let length = 38
    static let sign = UInt8(ascii: "~")

    var channel: UInt32
    /// The number of the connection that published the event. The events of one connection have an order.
    var publisher: UInt32
    /// The sequence number of the event among its publisher's events on this channel, from 0.
    var sequence: UInt32
    /// The time at which the event was due, on the monotonic clock.
    var nanoseconds: UInt64

    /// Parses the mark at `bytes`, where at least ``length`` bytes are readable. Nil for other bytes.
    @inline(__always)
    init?(at bytes: UnsafeRawPointer) {
        let bytes = bytes.assumingMemoryBound(to: UInt8.self)
        let colon = UInt8(ascii: ":")
        guard bytes[37] == Self.sign, bytes[6] == colon, bytes[11] == colon, bytes[20] == colon else { return nil }
        channel = UInt32(truncatingIfNeeded: Self.number(bytes + 1, 5))
        publisher = UInt32(truncatingIfNeeded: Self.number(bytes + 7, 4))
        sequence = UInt32(truncatingIfNeeded: Self.number(bytes + 12, 8))
        nanoseconds = Self.number(bytes + 21, 16)
    }

    init(channel: UInt32, publisher: UInt32, sequence: UInt32, nanoseconds: UInt64) {
        self.channel = channel
        self.publisher = publisher
        self.sequence = sequence
        self.nanoseconds = nanoseconds
    }

    /// Writes the mark in ``length`` bytes.
    func write(to bytes: UnsafeMutableRawPointer) {
        let bytes = bytes.assumingMemoryBound(to: UInt8.self)
        (bytes[0], bytes[6], bytes[11], bytes[20], bytes[37]) = (
            Self.sign, UInt8(ascii: ":"), UInt8(ascii: ":"), UInt8(ascii: ":"), Self.sign
        )
        Self.write(UInt64(channel), bytes + 1, 5)
        Self.write(UInt64(publisher), bytes + 7, 4)
        Self.write(UInt64(sequence), bytes + 12, 8)
        Self.write(nanoseconds, bytes + 21, 16)
    }

    /// Parses hexadecimal digits. Only lower-case digits are valid, because marks are written with them.
    @inline(__always)
    private static func number(_ digits: UnsafePointer<UInt8>, _ count: Int) -> UInt64 {
        var value: UInt64 = 0
        for index in 0..<count {
            let digit = digits[index]
            value = value << 4 | UInt64(digit & 0x0F &+ 9 &* (digit >> 6))
        }
        return value
    }

    static func write(_ value: UInt64, _ digits: UnsafeMutablePointer<UInt8>, _ count: Int) {
        for index in 0..<count {
            let digit = UInt8(value >> UInt64(4 * (count - 1 - index)) & 0xF)
            digits[index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
        }
    }
}
