import ChatCore
import ChatModel
import JSON

/// Facts of the chat that Chat SDKs state by a publish or a signal, and that the native interface shares.
extension PubNubAPI {
    /// Takes a signal of typing or a receipt into the fact that it states.
    ///
    /// - Returns: a place in the log at which subscribers have it; nil for a signal like any other.
    func take(_ signal: WireEventMapper, _ chat: ChatAccess) async throws -> Timetoken? {
        guard let user = signal.user else { return nil }
        let (channel, text) = (signal.channel, signal.payload.text)
        switch signal.signalFact {
        case .typing(true):
            try await chat.startTyping(user, on: channel, showing: text)
            return try await chat.watermark()
        case .typing(false):
            try await chat.stopTyping(user, on: channel, showing: text)
            return try await chat.watermark()
        case .read(let timetoken):
            switch try await chat.take(receiptOf: user, in: channel, at: timetoken, showing: text) {
            case .moved(let place): return place
            case .unmoved:
                var emission = signal.signal()
                emission.audience = .wire
                return try await chat.emit(emission).event.timetoken
            case .noMember: return nil
            }
        case nil: return nil
        }
    }

    /// Whether a publish repeats what native readers have from a record: an SDK that invites a user writes the membership
    /// first and publishes the invitation then.
    func isKnown(_ publish: WireEventMapper, _ chat: ChatAccess) async throws(ChatError) -> Bool {
        guard let place = publish.invitedTo else { return false }
        do throws(ChatError) {
            return try await chat.member(publish.channel, of: place) != nil
        } catch {
            // No user, or no channel, has such a name.
            guard error.code == .malformed else { throw error }
            return false
        }
    }
}
