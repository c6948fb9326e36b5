import ChatModel
import HTTPServer
import JSON

extension Response {
    /// Returns a JSON response of the PubNub API.
    ///
    /// - Parameter retryAfter: true to send `Retry-After: 1`.
    static func wire(_ body: [UInt8], status: Int = 200, retryAfter: Bool = false) -> Response {
        Response(
            status: status,
            headers: [("Content-Type", "application/json; charset=UTF-8"), ("Cache-Control", "no-cache")]
                + (retryAfter ? [("Retry-After", "1")] : []),
            body: .bytes(body))
    }

    static func wire(_ status: Int = 200, _ print: (inout JSONWriter) -> Void) -> Response {
        .wire(JSONText(print).bytes, status: status)
    }
}

extension JSONWriter {
    /// Prints `{"t":"<17 digits>","r":1}`: a position and its region. The gateway has only one region.
    mutating func position(_ timetoken: Timetoken) {
        beginObject()
        let digits = timetoken.description
        member("t", String(repeating: "0", count: max(0, 17 - digits.utf8.count)) + digits)
        member("r", 1)
        endObject()
    }
}
