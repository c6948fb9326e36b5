@testable public import ChatCore
public import ChatModel
import Signing

extension Keyring {
    /// A key of the caller's app that callers show as a text.
    public func issueKey(
        name: String = "test", scopes: Scopes, channels: [NamePattern] = [.all], types: [NamePattern] = [.all],
        expires: Timetoken? = nil, by caller: Caller
    ) async throws(ChatError) -> IssuedKey {
        let text = SystemRandomSource().token(prefix: "parley_")
        let key = try await addKey(
            name: name, proof: .text(digest: Self.digest(of: text)), scopes: scopes, channels: channels, types: types,
            expires: expires, by: caller)
        return IssuedKey(key: key, text: text)
    }
}
