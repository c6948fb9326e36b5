public import ChatKit
public import ChatModel

extension Chat {
    /// A chat in this process, on an engine that belongs to it from now on: ``close()`` closes it.
    ///
    /// ```swift
    /// let chat = try await Chat(engine: SQLiteEngine(path: "chat.db"), app: "default", user: "ana")
    /// ```
    ///
    /// - Parameter app: the app whose chat it is; made when it is not there.
    /// - Throws: `.malformed` for a user that cannot be a name; what the engine throws when it cannot be read.
    public convenience init(
        engine: any Engine, app: String = "default", user: String, limits: Limits = Limits()
    ) async throws(ChatError) {
        try await self.init(try await EngineBackend(engine, app: app, user: user, limits: limits))
    }
}
