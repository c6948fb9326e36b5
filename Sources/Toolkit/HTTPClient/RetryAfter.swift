internal import Glibc

extension HeaderFields {
    /// Returns the time that the server asks the client to wait (`Retry-After`; RFC 9110, 10.2.3), measured from `now`
    /// in Unix seconds. Returns zero for a date in the past, and `nil` when the field is absent or invalid.
    public func retryAfter(unixSeconds now: Int64) -> Duration? {
        self["retry-after"].flatMap { RetryAfter.parse($0, unixSeconds: now) }
    }
}

/// Parses the `Retry-After` field: a number of seconds, or a date in one of the three formats of RFC 9110, 5.6.7.
enum RetryAfter {
    static func parse(_ text: String, unixSeconds now: Int64) -> Duration? {
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            // A number of more than ten digits is treated as a very long time and not as an error.
            return .seconds(text.utf8.count > 10 ? 10_000_000_000 : Int64(text) ?? 0)
        }
        return date(text).map { .seconds(max($0 - now, 0)) }
    }

    /// Returns the Unix seconds of an HTTP date; `nil` when the date is invalid.
    private static func date(_ text: String) -> Int64? {
        var words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count >= 4 else { return nil }
        words.removeFirst()  // the day of the week is redundant
        switch words.count {
        case 5:  // Sun, 06 Nov 1994 08:49:37 GMT
            return seconds(year: Int(words[2]), month: words[1], day: Int(words[0]), time: words[3])
        case 4:  // Sun Nov  6 08:49:37 1994
            return seconds(year: Int(words[3]), month: words[0], day: Int(words[1]), time: words[2])
        case 3:  // Sunday, 06-Nov-94 08:49:37 GMT
            let parts = words[0].split(separator: "-")
            guard parts.count == 3, let short = Int(parts[2]), (0..<100).contains(short) else { return nil }
            // A two-digit year belongs to the current century, because a retry time is near the current time.
            return seconds(year: 2000 + short, month: parts[1], day: Int(parts[0]), time: words[1])
        default: return nil
        }
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static func seconds(year: Int?, month: Substring, day: Int?, time: Substring) -> Int64? {
        guard let year, let day, (1970...9999).contains(year), (1...31).contains(day),
            let month = months.firstIndex(of: String(month))
        else { return nil }
        let clock = time.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) ?? -1 }
        guard clock.count == 3, (0...23).contains(clock[0]), (0...59).contains(clock[1]), (0...60).contains(clock[2])
        else { return nil }
        var moment = tm()
        moment.tm_year = Int32(year - 1900)
        moment.tm_mon = Int32(month)
        moment.tm_mday = Int32(day)
        (moment.tm_hour, moment.tm_min, moment.tm_sec) = (Int32(clock[0]), Int32(clock[1]), Int32(clock[2]))
        return Int64(timegm(&moment))
    }
}
