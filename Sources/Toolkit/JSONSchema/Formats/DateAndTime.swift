/// Checks of dates and times (RFC 3339 section 5.6) and durations (RFC 3339 appendix A).
extension Format {
    static func isDate(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard text.count == 10 else { return false }
        var scanner = Scanner(text)
        return scanner.parseDate()
    }

    static func isTime(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var scanner = Scanner(text)
        return scanner.parseTime() && scanner.isAtEnd
    }

    static func isDateTime(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var scanner = Scanner(text)
        return scanner.parseDate() && scanner.skipLetter("T") && scanner.parseTime() && scanner.isAtEnd
    }

    /// Returns true for a valid duration. The grammar allows no gaps between units: years and days require months
    /// between them, so `P1Y2D` is rejected.
    static func isDuration(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var scanner = Scanner(text)
        guard scanner.skipLetter("P") else { return false }
        if !scanner.isNext("T"), !scanner.isNext("t") {
            guard let date = scanner.skipUnits(of: "YMD", alone: "W") else { return false }
            if scanner.isAtEnd { return true }
            guard date != "W" else { return false }
        }
        return scanner.skipLetter("T") && scanner.skipUnits(of: "HMS", alone: nil) != nil && scanner.isAtEnd
    }
}

extension Format.Scanner {
    fileprivate mutating func parseDate() -> Bool {
        guard let year = parseNumber(width: 4), accept("-"), let month = parseNumber(width: 2), accept("-"),
            let day = parseNumber(width: 2)
        else { return false }
        return (1...12).contains(month) && day >= 1 && day <= Self.days(in: month, of: year)
    }

    private static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    fileprivate mutating func parseTime() -> Bool {
        guard let hour = parseNumber(width: 2), accept(":"), let minute = parseNumber(width: 2), accept(":"),
            let second = parseNumber(width: 2), hour <= 23, minute <= 59, second <= 60
        else { return false }
        if accept("."), skip(.digits) == 0 { return false }
        guard let offset = parseOffset() else { return false }
        // A leap second is always the last second of a day in UTC.
        return second < 60 || (hour * 60 + minute - offset + 1440) % 1440 == 1439
    }

    /// Parses a time zone offset. Returns minutes east of UTC, or nil when the offset is invalid.
    private mutating func parseOffset() -> Int? {
        if skipLetter("Z") { return 0 }
        let isWest = isNext("-")
        guard isWest || isNext("+") else { return nil }
        move(to: offset + 1)
        guard let hour = parseNumber(width: 2), accept(":"), let minute = parseNumber(width: 2), hour <= 23,
            minute <= 59
        else { return nil }
        return (hour * 60 + minute) * (isWest ? -1 : 1)
    }

    /// Skips numbers that are each followed by a unit. The units must be consecutive units of `units`, in this order.
    /// Alternatively, skips a single number with the unit `alone`.
    ///
    /// - Returns: the last unit; nil when the text is invalid.
    fileprivate mutating func skipUnits(of units: StaticString, alone: Unicode.Scalar?) -> Unicode.Scalar? {
        guard skip(.digits) > 0 else { return nil }
        if let alone, skipLetter(alone) { return alone }
        var last: Unicode.Scalar?
        for index in 0..<units.utf8CodeUnitCount {
            let unit = Unicode.Scalar(units.utf8Start[index])
            if skipLetter(unit) {
                last = unit
                guard let next, Format.ByteSet.digits.contains(next) else { return last }
                skip(.digits)
            } else if last != nil {
                return nil
            }
        }
        return nil
    }
}
