internal import CMicrohttpd
import Glibc

/// Formats responses without libmicrohttpd. Used for streams, for errors in the middle of a request body, and for
/// connections without a complete request, because the library cannot send these responses.
enum RawResponse {
    /// Formats the header of a response, including the empty line at its end.
    ///
    /// - Parameter closing: true when the connection is closed after the response.
    static func head(
        status: Int, headers: [(name: String, value: String)], contentLength: Int?, requestID: String, date: HTTPDate,
        closing: Bool = true
    ) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(512)
        let reason = MHD_get_reason_phrase_for(UInt32(status))
        append("HTTP/1.1 ", to: &output)
        append(String(status), to: &output)
        append(" ", to: &output)
        if let reason { output.append(contentsOf: UnsafeRawBufferPointer(start: reason, count: strlen(reason))) }
        append("\r\nX-Content-Type-Options: nosniff", to: &output)
        if closing { append("\r\nConnection: close", to: &output) }
        append("\r\nDate: ", to: &output)
        append(date.text, to: &output)
        append("\r\nX-Request-Id: ", to: &output)
        append(requestID, to: &output)
        for header in headers where isSafe(header.name) && isSafe(header.value) && !header.value.isEmpty {
            append("\r\n", to: &output)
            append(header.name, to: &output)
            append(": ", to: &output)
            append(header.value, to: &output)
        }
        if let contentLength {
            append("\r\nContent-Length: ", to: &output)
            append(String(contentLength), to: &output)
        }
        append("\r\n\r\n", to: &output)
        return output
    }

    /// Formats a complete response. A body that is not in memory is left out.
    static func message(_ response: Response, isHead: Bool, requestID: String, date: HTTPDate) -> [UInt8] {
        let body: [UInt8]
        switch response.body {
        case .bytes(let bytes): body = bytes
        case .fixed(let bytes): body = Array(bytes.buffer)
        case .empty, .pieces, .stream, .deferred: body = []
        }
        let head = head(
            status: response.status, headers: response.headers, contentLength: body.count, requestID: requestID,
            date: date)
        return isHead ? head : head + body
    }

    private static func append(_ text: String, to output: inout [UInt8]) {
        var text = text
        text.withUTF8 { output.append(contentsOf: $0) }
    }

    /// Returns true when the text contains no CR, LF or NUL. A line break would begin another header field.
    static func isSafe(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            !bytes.contains { $0 <= 0x0D && ($0 == 0x0D || $0 == 0x0A || $0 == 0) }
        }
    }
}

/// The current time in the format of the `Date` field (RFC 9110, 5.6.7). The text is formatted at most once per second.
struct HTTPDate {
    private var second: time_t = -1
    private(set) var text = ""

    /// Returns a copy with the text for the current second.
    mutating func updated() -> HTTPDate {
        let now = time(nil)
        guard now != second else { return self }
        second = now
        text = Self.format(now)
        return self
    }

    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    static func format(_ time: time_t) -> String {
        var time = time
        var parts = tm()
        gmtime_r(&time, &parts)
        let day = days[Int(parts.tm_wday)]
        let month = months[Int(parts.tm_mon)]
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { two(Int($0)) }.joined(separator: ":")
        return "\(day), \(two(Int(parts.tm_mday))) \(month) \(1900 + Int(parts.tm_year)) \(clock) GMT"
    }

    private static func two(_ number: Int) -> String {
        number < 10 ? "0\(number)" : String(number)
    }
}
