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
