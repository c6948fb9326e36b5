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
        var heads = RawHeads()
        return heads.head(
            status: status, headers: headers, contentLength: contentLength, requestID: requestID, date: date,
            closing: closing)
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
}

/// Formats the headers of responses. Thousands of clients may get the same response at the same time, so the text of the
/// last header is reused. Only the id of the request and the length of the body may differ.
struct RawHeads {
    private var status = 0
    private var headers: [(name: String, value: String)] = []
    private var added: [(name: String, value: String)] = []
    private var date = ""
    private var isClosing = false
    /// The last header.
    private var text: [UInt8] = []
    /// The size of the last header without its end (``HeadWriter/end(requestID:contentLength:)``).
    private var size = 0

    /// Formats the header of a response, including the empty line at its end. The memory of the result is used again
    /// when the caller has released it.
    ///
    /// - Parameters:
    ///   - added: fields that follow `headers`.
    ///   - closing: true when the connection is closed after the response.
    mutating func head(
        status: Int, headers: [(name: String, value: String)], _ added: [(name: String, value: String)] = [],
        contentLength: Int?, requestID: String, date: HTTPDate, closing: Bool
    ) -> [UInt8] {
        let isSame =
            self.status == status && isClosing == closing && self.date == date.text
            && Self.areEqual(self.headers, headers) && Self.areEqual(self.added, added)
        if !isSame {
            (self.status, self.headers, self.added) = (status, headers, added)
            (self.date, isClosing) = (date.text, closing)
            text.removeAll(keepingCapacity: true)
            text.append(capacity: HeadWriter.capacity(for: headers) + HeadWriter.capacity(for: added)) {
                $0.begin(status: status, date: date.text, closing: closing)
                $0.write(headers)
                $0.write(added)
            }
            size = text.count
        }
        text.removeLast(text.count - size)
        text.append(capacity: HeadWriter.capacity(forEndWith: requestID)) {
            $0.end(requestID: requestID, contentLength: contentLength)
        }
        return text
    }

    /// Lists that share their memory are equal without a comparison of their fields.
    private static func areEqual(
        _ left: [(name: String, value: String)], _ right: [(name: String, value: String)]
    ) -> Bool {
        guard left.count == right.count else { return false }
        let isShared = left.withUnsafeBufferPointer { left in
            right.withUnsafeBufferPointer { left.baseAddress == $0.baseAddress }
        }
        return isShared || left.elementsEqual(right, by: ==)
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
