/// The credential of a command: an API key, or the tokens that a program of the user prints.
package actor Credential {
    /// The program that prints tokens; nil for an API key, which cannot be renewed.
    private let command: TokenCommand?
    /// The current key or token; nil before the first token.
    private var text: String?
    private var fetching: Task<Result<String, CommandFailure>, Never>?

    /// Creates a credential from an API key.
    ///
    /// - Parameter source: the name of the setting with the key, for the error when the gateway rejects the key.
    package init(key: String, source: String = "PARLEY_KEY") {
        command = nil
        text = key
        self.source = source
    }

    package init(_ command: TokenCommand) {
        self.command = command
        source = "the token command"
    }

    /// True when the credential can be replaced by a new token.
    package nonisolated var isRenewable: Bool { command != nil }

    /// The name of the setting to check when the gateway rejects the credential.
    package nonisolated let source: String

    /// Returns the current credential. The first call fetches the first token.
    ///
    /// - Throws: the errors of ``TokenCommand/run()``.
    package func current() async throws(CommandFailure) -> String {
        if let text { return text }
        return try await fetch()
    }

    /// Returns a credential to use instead of the rejected credential. A new token is fetched, unless another request
    /// has already fetched one.
    ///
    /// - Returns: nil for an API key, which cannot be renewed.
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
