/// What a look at one thing came to.
public struct CheckResult: Sendable, Equatable {
    public enum Status: String, Sendable {
        case ok
        /// It works, but somebody should know.
        case warning
        /// It does not work, or will not for long.
        case failure
    }

    /// What was looked at: a short word, the same in every version.
    public var check: String
    public var status: Status
    public var text: String
    /// What to do; nil where nothing is to be done.
    public var advice: String?

    public init(_ check: String, _ status: Status, _ text: String, advice: String? = nil) {
        self.check = check
        self.status = status
        self.text = text
        self.advice = advice
    }
}
