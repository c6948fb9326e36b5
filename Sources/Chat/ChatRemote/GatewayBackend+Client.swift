package import ChatKit
package import ChatModel
import GatewayClient
import JSON

// Operations that only a gateway has, for ChatKitCompat.

extension GatewayBackend {
    /// Uses another key or token for every request and connection from now on.
    package func replaceKey(with key: String) { gateway.replaceKey(with: key) }

    /// Returns the gateway's time.
    package func time() async throws(ChatError) -> Timetoken {
        let answer = try await send(Call("GET", RequestPath("time", "0", root: "")))
        guard let time = answer.document?.root[0]?.integer, time > 0 else { throw .foreignAnswer }
        return Timetoken(UInt64(time))
    }

    /// Permanently deletes the stored events of a channel strictly between two positions. Requires the scope `manage`.
    ///
    /// - Parameters:
    ///   - after: the lower bound, exclusive; nil for no bound.
    ///   - before: the upper bound, exclusive; nil for no bound.
    package func deleteHistory(
        of channel: String, after: Timetoken?, before: Timetoken?
    ) async throws(ChatError) {
        let path = RequestPath("channels", channel, "events")
            .adding("all", after == nil && before == nil ? "true" : nil)
            .adding("after", after?.description).adding("before", before?.description)
        _ = try await send(Call("DELETE", path))
    }

    /// Returns the statements (claims) that a user's token contains, without checking the token's signature; nil for a
    /// text that is not a token.
    package static func claims(of token: String) -> AnyJSON? { Credential.claims(of: token).map { AnyJSON($0) } }
}
