import Testing

@testable import HTTPClient

@Suite("Retry-After") struct RetryAfterTests {
    /// 1994-11-06T08:49:00Z, 37 s before the date in the examples of RFC 9110, 5.6.7.
    static let now: Int64 = 784_111_740

    private func wait(_ text: String, unixSeconds now: Int64 = now) -> Duration? {
        HeaderFields(lines: Array("Date: x\r\nRetry-After: \(text)\r\n".utf8)).retryAfter(unixSeconds: now)
    }

    @Test(
        "is read as seconds and in all three forms of a date",
        arguments: [
            ("120", 120), ("0", 0), ("Sun, 06 Nov 1994 08:49:37 GMT", 37), ("Sun Nov  6 08:49:37 1994", 37),
            ("Sun, 06 Nov 1994 08:00:00 GMT", 0), ("Thu, 29 Feb 1996 00:00:00 GMT", 41_440_260),
            ("99999999999999999999", 10_000_000_000),
        ])
    func forms(text: String, seconds: Int64) {
        #expect(wait(text) == .seconds(seconds))
    }

    @Test("with two digits of a year means this century") func shortYear() {
        #expect(wait("Tuesday, 14-Nov-23 22:14:20 GMT", unixSeconds: 1_700_000_000) == .seconds(60))
    }

    @Test(
        "of another form is passed over",
        arguments: [
            "", "soon", "-5", "1.5", "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:61:37 GMT", "1 2 3 4",
        ])
    func garbage(text: String) {
        #expect(wait(text) == nil)
    }

    @Test("that is absent means no delay") func absent() {
        #expect(HeaderFields().retryAfter(unixSeconds: Self.now) == nil)
    }
}
