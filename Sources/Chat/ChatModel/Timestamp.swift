/// Parses times in RFC 3339 format, with any offset and any number of decimals.
public enum Timestamp {
    /// Parses a timestamp.
    ///
    /// - Returns: the time; nil for a text that is not a timestamp, and for a time before 1970 or after 9999. Decimals
    ///   beyond 100 ns are cut off. A leap second counts as the next second.
    public static func read(_ text: String) -> Timetoken? {
        guard let moment = moment(text), moment.seconds >= 0 else { return nil }
        return Timetoken(UInt64(moment.seconds) * Timetoken.ticksPerSecond + UInt64(moment.ticks))
    }

    /// True when the text is a timestamp of any year.
    public static func isTimestamp(_ text: String) -> Bool { moment(text) != nil }

    /// The number of whole seconds since 1970, and the remaining fraction of a second in ticks of 100 ns; nil for a
    /// text that is not a timestamp.
    private static func moment(_ text: String) -> (seconds: Int, ticks: Int)? {
        var reader = DigitReader(Array(text.utf8))
        guard let year = reader.digits(4), reader.skip("-"), let month = reader.digits(2), reader.skip("-"),
            let day = reader.digits(2), reader.skip("Tt "), let hour = reader.digits(2), reader.skip(":"),
            let minute = reader.digits(2), reader.skip(":"), let second = reader.digits(2),
            let ticks = reader.fraction(), let offset = reader.offset(), reader.isAtEnd,
            let date = CivilDate(year: year, month: month, day: day), hour < 24, minute < 60, second <= 60
        else { return nil }
        return (date.daysSince1970 * 86_400 + hour * 3600 + minute * 60 + second - offset, ticks)
    }
}

/// Reads a timestamp character by character.
private struct DigitReader {
    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { index == bytes.count }

    mutating func digits(_ count: Int) -> Int? {
        guard index + count <= bytes.count else { return nil }
        var value = 0
        for byte in bytes[index..<index + count] {
            guard (0x30...0x39).contains(byte) else { return nil }
            value = value * 10 + Int(byte - 0x30)
        }
        index += count
        return value
    }

    mutating func skip(_ any: StaticString) -> Bool {
        guard index < bytes.count, any.withUTF8Buffer({ $0.contains(bytes[index]) }) else { return false }
        index += 1
        return true
    }

    /// Reads the decimals of the seconds, in ticks of 100 ns; zero without a decimal point, and nil when no digit
    /// follows the decimal point.
    mutating func fraction() -> Int? {
        guard skip(".") else { return 0 }
        var ticks = 0
        var count = 0
        while let digit = digits(1) {
            if count < 7 { ticks = ticks * 10 + digit }
            count += 1
        }
        guard count > 0 else { return nil }
        for _ in min(count, 7)..<7 { ticks *= 10 }
        return ticks
    }

    /// Reads the offset, `Z` or `±hh:mm`, in seconds east of Greenwich; nil when there is no valid offset.
    mutating func offset() -> Int? {
        if skip("Zz") { return 0 }
        let isWest = skip("-")
        guard isWest || skip("+"), let hours = digits(2), skip(":"), let minutes = digits(2), hours < 24, minutes < 60
        else { return nil }
        return (hours * 3600 + minutes * 60) * (isWest ? -1 : 1)
    }
}

/// A day of the proleptic Gregorian calendar.
///
/// Source: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days` and `days_from_civil`.
public struct CivilDate: Hashable, Sendable {
    /// The year, 1 or later.
    public let year: Int
    /// The month, 1 to 12.
    public let month: Int
    /// The day of the month, 1 to 31.
    public let day: Int

    /// Creates the day that is a number of days after 1970-01-01.
    ///
    /// - Parameter daysSince1970: the number of days since 1970-01-01, zero or more.
    public init(daysSince1970: Int) {
        let shifted = daysSince1970 + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// Creates a day of the calendar; nil for a day that does not exist, and for years before 1.
    public init?(year: Int, month: Int, day: Int) {
        guard year > 0, (1...12).contains(month), (1...Self.daysIn(month, of: year)).contains(day) else { return nil }
        self.year = year
        self.month = month
        self.day = day
    }

    /// The number of days since 1970-01-01; negative before it.
    public var daysSince1970: Int {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = shiftedYear / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func daysIn(_ month: Int, of year: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }
}
