public import ChatModel

extension EventDraft {
    /// True when appending the draft changes the store: for a durable event, and for a deduplication key.
    @inlinable package var needsCommit: Bool { retention == .kept || deduplicationKey != nil }
}

extension [EventDraft] {
    // The next two properties read the drafts in place. An iteration over the array would copy each draft.

    /// True when appending the drafts changes the store.
    package var needCommit: Bool {
        let drafts = span
        for index in drafts.indices where drafts[index].needsCommit { return true }
        return false
    }

    /// True when a draft is an imported event.
    package var hasPast: Bool {
        let drafts = span
        for index in drafts.indices where drafts[index].past != nil { return true }
        return false
    }

    /// Makes the events of these drafts, and empties the array. Moving a draft into its event saves copying its fields.
    ///
    /// - Parameter first: the timetoken of the first event. Each further event has the next timetoken.
    package mutating func takeEvents(from first: UInt64) -> [Event] {
        // Faster than the general form, for nearly all requests.
        guard count != 1 else { return [Event(timetoken: Timetoken(first), draft: removeLast())] }
        return [Event](unsafeUninitializedCapacity: count) { events, count in
            count = self.count
            for index in (0..<count).reversed() {
                events.initializeElement(
                    at: index, to: Event(timetoken: Timetoken(first + UInt64(index)), draft: removeLast()))
            }
        }
    }
}
