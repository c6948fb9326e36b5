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

/// Why a message was not accepted. For the log: whoever sent it learns only that the signature is not valid.
public enum SignatureRejection: Error, Sendable, Equatable, CustomStringConvertible {
    /// A header the scheme needs is absent or empty.
    case headerMissing(String)
    /// A header is not of the scheme's form.
    case headerMalformed(String)
    /// The timestamp is further from now than the window; positive is in the past.
    case outsideWindow(ageSeconds: Int64)
    /// The digest of the body that was signed is not that of this body.
    case digestMismatch
    /// The scheme signs the URL, and the gateway was not told its public one.
    case urlUnknown
    /// No signature in the message was made with any of the secrets.
    case mismatch

    public var description: String {
        switch self {
        case .headerMissing(let name): "header \(name) is missing"
        case .headerMalformed(let name): "header \(name) is malformed"
        case .outsideWindow(let age): "timestamp is \(age) s old"
        case .digestMismatch: "the body does not have the signed digest"
        case .urlUnknown: "the URL is signed, and public_url is not set"
        case .mismatch: "no signature matches"
        }
    }
}
