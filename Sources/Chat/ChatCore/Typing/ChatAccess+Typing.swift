public import ChatModel

extension ChatAccess {
    /// The user types, until this is said again, stopped, or ten seconds old (`Limits.typingAge`). Said again it tells
    /// nobody anything.
    ///
    /// - Throws: `.forbidden` for who may not write there.
    public func startTyping(_ user: String, on name: String) async throws(ChatError) {
        try demandOwn(user, on: name, for: "typing.started")
        try await demand(.writing, of: user, in: name)
        let seat = seat(.typist, user, name)
        let age = limits.typingAge
        try await tracker.ask(presenceOrigin) { board throws(ChatError) in
            // Once more, in the line in which who is banned is sent out.
            try await demand(.writing, of: user, in: name)
            return try await board.renew([seat], for: age)
        }
    }

    /// The user types no more. Harmless for who does not.
    public func stopTyping(_ user: String, on name: String) async throws(ChatError) {
        try demandOwn(user, on: name, for: "typing.stopped")
        let seat = seat(.typist, user, name)
        try await tracker.ask(presenceOrigin) { board throws(ChatError) in try await board.leave([seat]) }
    }
}
