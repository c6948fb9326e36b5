public import ChatModel

extension EventDraft {
    /// True when appending the draft changes the store: for a durable event, and for a deduplication key.
    @inlinable package var needsCommit: Bool { retention == .kept || deduplicationKey != nil }
}
