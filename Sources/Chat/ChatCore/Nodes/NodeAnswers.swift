public import ChatModel
public import JSON

/// The answers of the other nodes to a call of all of them.
public struct NodeAnswers: Sendable {
    /// The answers, each with the number of its node, in the order of the numbers.
    public internal(set) var all: [(node: Int64, answer: JSONText)] = []
    /// True when a node that lives has failed or did not answer in time, so that what it has in memory is missing.
    public internal(set) var isPartial = false

    /// Creates the answers of no node.
    public init() {}

    static let missing = ChatError(
        .unavailable, "the node that serves this request does not answer; try again", retryAfter: .seconds(1))

    /// Checks that every node has answered. For a caller that found nothing in the answers.
    ///
    /// - Throws: `.unavailable` when a node that lives has not answered.
    public func requireComplete() throws(ChatError) {
        guard !isPartial else { throw Self.missing }
    }
}
