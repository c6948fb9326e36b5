/// The credential of a command: an API key, or tokens that a program of the user's supplies.
package actor Credential {
    /// Supplies a token; nil for a key, which cannot be renewed.
    private let command: TokenCommand?
    /// What was shown last; nil before the first token.
    private var text: String?
    private var fetching: Task<Result<String, CommandFailure>, Never>?

    /// - Parameter source: the place to look at when it is refused.
    package init(key: String, source: String = "PARLEY_KEY") {
        command = nil
        text = key
        self.source = source
    }

    package init(_ command: TokenCommand) {
        self.command = command
        source = "the token command"
    }

    /// Whether another one may be had when the gateway refuses this one.
    package nonisolated var isRenewable: Bool { command != nil }

    /// The place to look at when it is refused.
    package nonisolated let source: String

    /// What to show now. The first call fetches a token.
    ///
    /// - Throws: what ``TokenCommand/run()`` throws.
    package func current() async throws(CommandFailure) -> String {
        if let text { return text }
        return try await fetch()
    }

    /// What to show in place of a text that the gateway has refused: fetched, unless another request has done that meanwhile.
    ///
    /// - Returns: nil for a key.
    /// - Throws: what ``TokenCommand/run()`` throws.
    package func renewed(after refused: String) async throws(CommandFailure) -> String? {
        guard command != nil else { return nil }
        if let text, text != refused { return text }
        return try await fetch()
    }

    /// One run of the command at a time, whoever asks meanwhile.
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
