/// How far a signed timestamp may lie from now, in both directions and inclusive.
public struct ReplayWindow: Sendable, Equatable {
    /// What may be configured.
    public static let permittedSeconds: ClosedRange<Int64> = 30...3600
    /// Five minutes, the value of the Standard Webhooks libraries.
    public static let standard = ReplayWindow(seconds: 300)

    public let seconds: Int64

    /// A window within ``permittedSeconds``; what lies outside is moved to its nearer end.
    public init(seconds: Int64) {
        self.seconds = min(max(seconds, Self.permittedSeconds.lowerBound), Self.permittedSeconds.upperBound)
    }

    /// Reads a timestamp and checks it against now.
    ///
    /// Only plain ASCII digits without a leading zero: the verifiers in the field print the number again before they sign,
    /// so every other spelling would be accepted by some and refused by others.
    /// - Parameter header: the name to report.
    func check(_ text: String, of header: String, at now: Int64) throws(SignatureRejection) {
        guard let timestamp = Self.parse(text) else { throw .headerMalformed(header) }
        let (age, overflow) = now.subtractingReportingOverflow(timestamp)
        guard !overflow else { throw .headerMalformed(header) }
        guard age.magnitude <= UInt64(seconds) else { throw .outsideWindow(ageSeconds: age) }
    }

    private static func parse(_ text: String) -> Int64? {
        guard let first = text.utf8.first,
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            first != UInt8(ascii: "0") || text.utf8.count == 1
        else { return nil }
        return Int64(text)
    }
}
