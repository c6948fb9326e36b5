/// The maximum difference between a signed timestamp and the current time, in either direction. A difference equal to
/// the maximum is accepted.
public struct ReplayWindow: Sendable, Equatable {
    /// The permitted values of ``seconds``.
    public static let permittedSeconds: ClosedRange<Int64> = 30...3600
    /// The default window of five minutes, which the Standard Webhooks libraries also use.
    public static let standard = ReplayWindow(seconds: 300)

    /// The maximum difference in seconds.
    public let seconds: Int64

    /// Creates a window. A value outside ``permittedSeconds`` is clamped to that range.
    public init(seconds: Int64) {
        self.seconds = min(max(seconds, Self.permittedSeconds.lowerBound), Self.permittedSeconds.upperBound)
    }

    /// Parses a timestamp and checks it against the current time.
    ///
    /// Accepts only ASCII digits without a leading zero. Other spellings of the number are rejected, because verifiers
    /// treat them differently. Some verifiers convert the number back to text before they compute the signature.
    ///
    /// - Parameter header: the name of the header, for the error.
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

/// The reason why a signed message was rejected. The reason is only for the log. The sender receives only the
/// information that the signature is not valid.
public enum SignatureRejection: Error, Sendable, Equatable, CustomStringConvertible {
    /// A header that the scheme requires is absent or empty.
    case headerMissing(String)
    /// A header does not have the format of the scheme.
    case headerMalformed(String)
    /// The timestamp is outside the window. The age is positive for a timestamp in the past.
    case outsideWindow(ageSeconds: Int64)
    /// The signed digest differs from the digest of the received body.
    case digestMismatch
    /// The scheme signs the URL, and the gateway's public URL is not configured.
    case urlUnknown
    /// No signature of the message was created with any of the secrets.
    case mismatch

    /// One sentence about the reason, for the log.
    public var description: String {
        switch self {
        case .headerMissing(let name): "the header \(name) is missing"
        case .headerMalformed(let name): "the header \(name) is malformed"
        case .outsideWindow(let age):
            "the timestamp of the signature is outside the permitted window; its age is \(age) s"
        case .digestMismatch: "the signed digest does not match the body"
        case .urlUnknown: "the signature covers the URL, but the setting public_url is not set"
        case .mismatch: "no signature matches a secret of the source"
        }
    }
}
