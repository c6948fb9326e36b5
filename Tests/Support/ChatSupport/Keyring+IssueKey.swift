@testable public import ChatCore
public import ChatModel
import Signing

extension Keyring {
    /// Issues a key of the caller's app whose text clients present.
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
