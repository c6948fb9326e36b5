/// Is told when the number of messages that the chat's user has not read changes.
public protocol UserEventDelegate: AnyObject, Sendable {
    func didUpdateTotalUnreadMessageCount(_ total: Int, totalCountByCustomType: [String: Int])
}

extension UserEventDelegate {
    public func didUpdateTotalUnreadMessageCount(_ total: Int, totalCountByCustomType: [String: Int]) {}
}

/// Is told when the connection of the chat's live events is lost and made again.
public protocol ConnectionDelegate: AnyObject, Sendable {
    /// The connection is lost, and is being made again.
    func didStartReconnection()
    func didSucceedReconnection()
    /// It cannot be made again.
    func didFailReconnection()
    /// The chat was closed meanwhile.
    func didCancelReconnection()
}

extension ConnectionDelegate {
    public func didStartReconnection() {}
    public func didSucceedReconnection() {}
    public func didFailReconnection() {}
    public func didCancelReconnection() {}
}
