/// The result of one check of the servers and the data of a cluster.
public struct ClusterFinding: Sendable, Equatable {
    /// The severity of a finding.
    public enum Severity: Sendable {
        case ok
        /// The cluster works, but the operator should know about the finding.
        case warning
        /// A node cannot work with the server, or breaks its guarantees.
        case failure
    }

    /// The name of the check: a short word that is the same in every version.
    public var check: String
    /// The severity.
    public var severity: Severity
    /// The finding in one sentence.
    public var text: String
    /// The remedy; nil when no action is needed.
    public var advice: String?

    init(_ check: String, _ severity: Severity, _ text: String, advice: String? = nil) {
        self.check = check
        self.severity = severity
        self.text = text
        self.advice = advice
    }

    /// The finding and its remedy, for an error or the log.
    var sentence: String { advice.map { "\(text): \($0)" } ?? text }
}
