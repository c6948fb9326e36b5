import Glibc
public import JSON

/// A position in the event log, which is also a time: ticks of 100 ns since 1970-01-01T00:00:00Z.
///
/// Every event has its own timetoken, strictly increasing in commit order. One value is therefore an event's id, its
/// time and the position from which a reader continues. The text form has 17 decimal digits (until the year 2286).
public struct Timetoken: Hashable, Comparable, Sendable {
    public var rawValue: UInt64

    /// Creates a timetoken from a number of ticks (100 ns) since 1970.
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }

    /// The position before every event.
    public static let zero = Timetoken(0)
    /// The position after every event. Its value is SQLite's largest integer, so that storage engines can bind it.
    public static let distantFuture = Timetoken(UInt64(Int64.max))

    /// The number of ticks in a second; a tick is 100 ns.
    public static let ticksPerSecond: UInt64 = 10_000_000
    /// The first and the last timetoken with 17 digits, in September 2001 and November 2286.
    private static let ofSeventeenDigits: ClosedRange<Timetoken> =
        Timetoken(10_000_000_000_000_000)...Timetoken(99_999_999_999_999_999)

    public static func < (left: Timetoken, right: Timetoken) -> Bool { left.rawValue < right.rawValue }

    /// Parses a timetoken from a client: exactly 17 decimal digits, or `0` for the beginning of the event log.
    ///
    /// Other lengths are rejected, because a time in seconds, milliseconds or nanoseconds would be a position far in
    /// the past or the future.
    public init?(exactly text: String) {
        var text = text
        guard let value = text.withUTF8({ Self.exactValue(of: $0[...]) }) else { return nil }
        self.init(value)
    }

    /// Parses a position: a timetoken, an event id or an RFC 3339 time. A time before September 2001 becomes ``zero``,
    /// and a time after November 2286 becomes the last timetoken with 17 digits.
    public init?(position text: String) {
        guard
            let position = Timetoken(ofEvent: text) ?? Timestamp.read(text)
                ?? (Timestamp.isTimestamp(text) ? .zero : nil)
        else { return nil }
        let known = Self.ofSeventeenDigits
        self = position < known.lowerBound ? .zero : min(position, known.upperBound)
    }

    /// Parses 1 to 19 decimal digits, the form that the gateway stores. Leading zeros are accepted. Values above
    /// `Int64.max` are not.
    @inlinable
    public init?(text: some StringProtocol) {
        var text = String(text)
        guard let value = text.withUTF8({ Self.value(of: $0) }) else { return nil }
        self.init(value)
    }

    /// The value of 1 to 19 decimal digits, up to `Int64.max`; nil for any other bytes.
    @usableFromInline
    static func value(of digits: UnsafeBufferPointer<UInt8>) -> UInt64? {
        guard 1...19 ~= digits.count else { return nil }
        var value: UInt64 = 0
        for byte in digits {
            guard (0x30...0x39).contains(byte) else { return nil }
            value = value &* 10 &+ UInt64(byte &- 0x30)
        }
        return value <= distantFuture.rawValue ? value : nil
    }

    /// The id of the event at this position: `evt_` and the digits.
    public var eventID: String { text(after: "evt_") }

    /// Parses an event's timetoken or its id (``eventID``). Every request that names an event or a message accepts
    /// both.
    public init?(ofEvent text: String) {
        var text = text
        let value = text.withUTF8 { bytes in
            Self.exactValue(of: bytes.starts(with: "evt_".utf8) ? bytes.dropFirst(4) : bytes[...])
        }
        guard let value else { return nil }
        self.init(value)
    }

    /// The value of exactly 17 decimal digits, or of the digit 0; nil for any other bytes.
    private static func exactValue(of digits: Slice<UnsafeBufferPointer<UInt8>>) -> UInt64? {
        guard digits.count == 17 || digits.count == 1 && digits.first == UInt8(ascii: "0") else { return nil }
        return value(of: UnsafeBufferPointer(rebasing: digits))
    }

    /// This position plus a duration, which may be negative. The result stays between zero and ``distantFuture``.
    public func adding(_ duration: Duration) -> Timetoken {
        let ticks = duration.timetokenTicks
        return ticks >= 0
            ? Timetoken(min(rawValue &+ UInt64(ticks), Self.distantFuture.rawValue))
            : Timetoken(rawValue - min(rawValue, UInt64(-ticks)))
    }
}

extension Timetoken: CustomStringConvertible, ExpressibleByIntegerLiteral {
    public init(integerLiteral value: UInt64) { self.init(value) }
    public var description: String { text(after: "") }

    /// Returns the prefix followed by the decimal digits of this timetoken, as a text made in one allocation.
    /// `String`'s own methods need four allocations, and the timetoken of each event is printed twice.
    private func text(after prefix: StaticString) -> String {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var rest = rawValue
            var first = digits.count
            repeat {
                first -= 1
                digits[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            let length = prefix.utf8CodeUnitCount
            return String(unsafeUninitializedCapacity: length + digits.count - first) { buffer in
                for index in 0..<length { buffer[index] = prefix.utf8Start[index] }
                for index in first..<digits.count { buffer[length + index - first] = digits[index] }
                return length + digits.count - first
            }
        }
    }
}

extension JSONWriter {
    /// Prints a member with a timetoken, as a string of its digits.
    public mutating func member(_ name: StaticString, _ timetoken: Timetoken) {
        member(name, digits: timetoken.rawValue)
    }

    /// Prints a member with the id of the event at a timetoken.
    public mutating func member(_ name: StaticString, eventAt timetoken: Timetoken) {
        member(name, prefix: "evt_", digits: timetoken.rawValue)
    }
}

extension Timetoken {
    /// The time in RFC 3339 format and UTC, cut to microseconds: `2024-11-24T01:39:05.678901Z`.
    public var timestamp: String {
        let seconds = rawValue / Self.ticksPerSecond
        let micros = rawValue % Self.ticksPerSecond / 10
        let date = CivilDate(daysSince1970: Int(seconds / 86_400))
        let second = Int(seconds % 86_400)
        return String(unsafeUninitializedCapacity: 27) { text in
            var end = 0
            func write(_ value: Int, _ width: Int, _ mark: Unicode.Scalar) {
                var rest = value
                for place in (end..<end + width).reversed() {
                    text[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                    rest /= 10
                }
                text[end + width] = UInt8(ascii: mark)
                end += width + 1
            }
            write(date.year, 4, "-")
            write(date.month, 2, "-")
            write(date.day, 2, "T")
            write(second / 3600, 2, ":")
            write(second / 60 % 60, 2, ":")
            write(second % 60, 2, ".")
            write(Int(micros), 6, "Z")
            return end
        }
    }
}

extension Duration {
    /// The duration in whole ticks of 100 ns, rounded towards zero.
    public var timetokenTicks: Int64 {
        let (seconds, attoseconds) = components
        return seconds * Int64(Timetoken.ticksPerSecond) + attoseconds / 100_000_000_000
    }
}

/// The properties of a signed token or ticket that show whether it was revoked. The gateway checks these properties as
/// long as the token or ticket is in use.
public struct TokenProof: Hashable, Sendable {
    /// The time of issue (`iat`; RFC 7519, section 4.1.6); nil when the token does not contain it.
    public var issued: Timetoken?
    /// The digest of the app secret that signed the token (`AppRecord.print(ofSecret:)`). Nil when a registered key
    /// signed it, and for a ticket that was issued to an API key.
    public var secretPrint: String?

    /// Creates a proof with the values that the token contains.
    public init(issued: Timetoken?, secretPrint: String? = nil) {
        self.issued = issued
        self.secretPrint = secretPrint
    }
}

/// A source of the wall-clock time, passed as a parameter so that tests control it. The time may jump or go backwards.
/// Only `EventLog` makes it monotonic.
public struct WallClock: Sendable {
    private let read: @Sendable () -> Timetoken

    /// Creates a clock that calls a closure for the time, for tests.
    public init(_ read: @escaping @Sendable () -> Timetoken) { self.read = read }

    /// The current time. The clock may go backwards, so the time may be earlier than a time that was read before.
    public var now: Timetoken { read() }

    /// The clock of the operating system.
    public static let system = WallClock {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timetoken(UInt64(time.tv_sec) * Timetoken.ticksPerSecond + UInt64(time.tv_nsec) / 100)
    }
}
