public import ChatModel

extension ChatService {
    /// Changes how long an app's events stay; what is older is hidden when this returns. For the app's admins, and for
    /// operators.
    ///
    /// - Parameter age: nil is for ever; what was hidden stays so.
    public func setRetention(_ age: Duration?, of space: SpaceID, by caller: Caller) async throws(ChatError) {
        try caller.demandWholeApp()
        guard space == caller.space || caller.isOperator else { throw ChatError(.notFound, "no such app") }
        // What the log does is what counts; the record says it, and has it done again at the next start.
        try await keyring.setRetention(age, of: space)
        try await engine.log.setRetention(age, of: space)
    }

    /// Has the log keep what the apps say, if a stop came between.
    func settleRetentions() async throws(ChatError) {
        for app in keyring.apps where app.retention != nil {
            try await engine.log.setRetention(app.retention, of: app.space)
        }
    }
}
