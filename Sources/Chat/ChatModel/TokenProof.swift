/// What is known of the signed token that a caller has shown, or of the ticket that stands for it: whether it still holds is
/// asked as long as it is used.
public struct TokenProof: Hashable, Sendable {
    /// When it was made (`iat`; RFC 7519, 4.1.6); nil where it does not say.
    public var issued: Timetoken?
    /// Which of its app's secrets has signed it: `AppRecord.print(ofSecret:)`. Nil where a registered key has, and for a
    /// ticket that an API key was shown for.
    public var secretPrint: String?

    public init(issued: Timetoken?, secretPrint: String? = nil) {
        self.issued = issued
        self.secretPrint = secretPrint
    }
}
