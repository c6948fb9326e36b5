import ChatCore
import ChatModel
import Locking
import Signing

/// Tokens whose signatures were right: clients show the same one with every request, and reading it costs more than all
/// else about it. One that is not right is never kept, so nobody drives others out with inventions.
final class VerifiedTokenCache: Sendable {
    private struct Key: Hashable {
        let app: AppID
        /// A token that an app's former secret signed is none once that has ended.
        let secret: String
        let text: ExactText
    }

    /// Longer ones are read every time, so that what is kept stays small.
    private static let longest = 4096

    private let known = Lock(GenerationCache<Key, AccessToken>(capacity: 8192))

    /// Nil for what is no token of the app.
    func token(_ text: String, of app: AppRecord, at now: Timetoken) -> AccessToken? {
        let bare = ExactText(text)
        for secret in app.secrets(at: now) {
            let key = Key(app: app.id, secret: secret.key, text: bare)
            if let token = known.withLock({ $0.value(of: key) }) { return token }
            guard let token = AccessToken(text, secret: Secret(text: secret.key)) else { continue }
            if text.utf8.count <= Self.longest { known.withLock { $0.insert(token, for: key) } }
            return token
        }
        return nil
    }
}
