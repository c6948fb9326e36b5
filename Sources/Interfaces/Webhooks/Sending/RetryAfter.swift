import ChatModel

/// Reads the `Retry-After` field: seconds, or a date in any of the three forms a receiver may write
/// (RFC 9110, 10.2.3 and 5.6.7).
enum RetryAfter {
    /// How long to wait from now; nil for what is neither. A date in the past is zero.
    static func parse(_ text: String, now: Timetoken) -> Duration? {
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            // More digits than a hundred years have is a very long time, not an error.
            return .seconds(text.utf8.count > 10 ? 10_000_000_000 : Int64(text) ?? 0)
        }
        guard let seconds = date(text) else { return nil }
        return .seconds(max(seconds - Int64(now.rawValue / Timetoken.ticksPerSecond), 0))
    }

    /// Unix seconds of an HTTP date.
    private static func date(_ text: String) -> Int64? {
        var words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count >= 4 else { return nil }
        words.removeFirst()  // the day of the week, which says nothing new
        switch words.count {
        case 5:  // Sun, 06 Nov 1994 08:49:37 GMT
            return seconds(year: Int(words[2]), month: words[1], day: Int(words[0]), time: words[3])
        case 4:  // Sun Nov  6 08:49:37 1994
            return seconds(year: Int(words[3]), month: words[0], day: Int(words[1]), time: words[2])
        case 3:  // Sunday, 06-Nov-94 08:49:37 GMT
            let parts = words[0].split(separator: "-")
            guard parts.count == 3, let short = Int(parts[2]), (0..<100).contains(short) else { return nil }
            // Two digits mean the century that puts the date nearest; for a moment to wait for that is ours.
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
        let days = days(year: year, month: month + 1, day: day)
        return Int64(days) * 86_400 + Int64(clock[0] * 3600 + clock[1] * 60 + clock[2])
    }

    /// Days from 1970-01-01.
    /// Source: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", `days_from_civil`; for years from 1970 on.
    private static func days(year: Int, month: Int, day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let yearOfEra = shifted % 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}
