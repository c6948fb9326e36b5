public import ChatModel

extension ClusterEngine {
    /// The number of this node.
    public var node: Int64 { queue.node.number }

    /// The other nodes whose leases have not ended.
    ///
    /// - Throws: `.unavailable` when the store cannot be read.
    public func otherNodes() async throws(ChatError) -> [Int64] {
        try await asking { () throws(StoreFailure) in try await queue.node.others() }
    }
}
