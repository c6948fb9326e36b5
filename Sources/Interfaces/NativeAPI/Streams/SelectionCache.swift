import ChatCore
import ChatModel
import Locking

/// The selections of single channels that callers used recently. A client that polls repeats its selection with every
/// request. Polls and streams with the same selection share its storage.
final class SelectionCache: Sendable {
    private struct Key: Hashable {
        /// The caller with its rights. A caller whose rights have changed is another key.
        let caller: Caller
        let channel: ExactText
    }

    private let selections = Lock(GenerationCache<Key, Selection>(capacity: 2048))

    /// Returns the selection of all events of a channel.
    ///
    /// - Throws: the errors of `ChatAccess.selection`.
    func selection(of channel: String, _ chat: ChatAccess) throws(ChatError) -> Selection {
        let key = Key(caller: chat.caller, channel: ExactText(channel))
        if let known = selections.withLock({ $0.value(of: key) }) { return known }
        let selection = try chat.selection(channels: [channel])
        selections.withLock { $0.insert(selection, for: key) }
        return selection
    }
}
