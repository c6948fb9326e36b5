import ChatCore
public import ChatKit
public import ChatModel

extension EngineBackend {
    public func mark(
        _ mark: ReceiptMark, of user: String, in channel: String, at timetoken: Timetoken?
    ) async throws(ChatError) {
        let kind: ReceiptKind =
            switch mark {
            case .delivered: .delivered
            case .read: .read
            }
        _ = try await access.mark(kind, user, in: channel, at: timetoken, by: self.user)
    }

    public func markAllRead() async throws(ChatError) -> [String] {
        try await access.markAllRead(by: user, named: user)
    }

    public func unread(of user: String, in channel: String) async throws(ChatError) -> Int {
        try await access.unread(of: user, in: channel)
    }

    public func unread() async throws(ChatError) -> UnreadCount {
        let unread = try await access.unread(of: user)
        return UnreadCount(total: unread.total, byCustomType: unread.byCustomType)
    }
}
