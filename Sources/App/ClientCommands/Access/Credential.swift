/// The credential of a command: an API key, or tokens that a program of the user supplies.
package actor Credential {
    /// The command that supplies tokens; nil for a key, which cannot be renewed.
    private let command: TokenCommand?
    /// The current credential; nil before the first token.
    private var text: String?
    private var fetching: Task<Result<String, CommandFailure>, Never>?

    /// - Parameter source: the setting to check when the key is rejected.
    package init(key: String, source: String = "PARLEY_KEY") {
        command = nil
        text = key
        self.source = source
    }

    package init(_ command: TokenCommand) {
        self.command = command
        source = "the token command"
    }

    /// True when the credential can be replaced after the gateway rejects it.
    package nonisolated var isRenewable: Bool { command != nil }

    /// The setting to check when the credential is rejected.
    package nonisolated let source: String

    /// Returns the current credential. The first call fetches a token.
    ///
    /// - Throws: the errors of ``TokenCommand/run()``.
    package func current() async throws(CommandFailure) -> String {
        if let text { return text }
        return try await fetch()
    }

    /// Returns a replacement for a text that the gateway rejected. It is fetched, unless another request has done so
    /// since.
    ///
    /// - Returns: nil for a key.
    /// - Throws: the errors of ``TokenCommand/run()``.
    package func renewed(after refused: String) async throws(CommandFailure) -> String? {
        guard command != nil else { return nil }
        if let text, text != refused { return text }
        return try await fetch()
    }

    /// Fetches a token. Concurrent callers share one run of the command.
    private func fetch() async throws(CommandFailure) -> String {
        guard let command else { return text ?? "" }
        let task =
            fetching
            ?? Task {
                do throws(CommandFailure) { return .success(try await command.run()) } catch { return .failure(error) }
            }
        fetching = task
        let result = await task.value
        if fetching == task { fetching = nil }
        let token = try result.get()
        text = token
        return token
    }
}
