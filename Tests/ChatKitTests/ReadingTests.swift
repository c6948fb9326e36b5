import ChatKit
import Testing

@Suite("Read marks and unread counts") struct ReadingTests {
    /// Creates a group of `ana` and `ben` in which `ben` has sent two messages.
    private func crew(_ chat: Chat) async throws -> (membership: Membership, first: Timetoken) {
        let ben = try await chat.acting(as: "ben")
        _ = try await chat.createGroupConversation(invitedUsers: [ben.currentUser], channelId: "crew")
        try await ben.channel("crew").join()
        let first = try await ben.channel("crew").sendText("one")
        try await ben.channel("crew").sendText("two")
        return (try #require(try await chat.channel("crew").getMembership(userId: "ana")), first)
    }

    @Test("are counted by channel and in total, and fall with the mark", arguments: MatchStrategy.allCases)
    func marks(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let (membership, first) = try await crew(chat)
            #expect(try await membership.getUnreadMessagesCount() == 2)
            #expect(try await chat.getTotalUnreadMessageCount() == UnreadCount(total: 2, byCustomType: [:]))
            let marked = try await membership.setLastReadMessageTimetoken(first)
            #expect(marked.lastReadMessageTimetoken == first)
            #expect(try await marked.getUnreadMessagesCount() == 1)
            // A read mark only moves forward.
            let newest = try #require(try await chat.channel("crew").getHistory().messages.last)
            #expect(try await marked.setLastReadMessage(newest).lastReadMessageTimetoken == newest.timetoken)
            #expect(
                try await marked.setLastReadMessageTimetoken(first).lastReadMessageTimetoken == newest.timetoken)
            #expect(try await chat.getTotalUnreadMessageCount().total == 0)
        }
    }

    @Test("are marked for a channel or for all at once", arguments: MatchStrategy.allCases)
    func all(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let (membership, _) = try await crew(chat)
            try await membership.channel.markAsDelivered()
            let delivered = try #require(try await membership.channel.getMembership(userId: "ana"))
            #expect(delivered.lastDeliveredMessageTimetoken > delivered.lastReadMessageTimetoken)
            #expect(try await chat.markAllMessagesAsRead() == ["crew"])
            #expect(try await chat.markAllMessagesAsRead() == [])
            try await chat.acting(as: "ben").channel("crew").sendText("three")
            #expect(try await membership.getUnreadMessagesCount() == 1)
            try await membership.channel.markAsRead()
            #expect(try await membership.getUnreadMessagesCount() == 0)
        }
    }

    @Test("are sent to the senders", arguments: MatchStrategy.allCases)
    func receipts(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let (membership, first) = try await crew(chat)
            let heard = Heard<ReadReceipt>()
            let listener = chat.channel("crew").onReadReceiptReceived { heard($0) }
            try await listener.ready()
            try await membership.setLastReadMessageTimetoken(first)
            let receipt = try #require(await heard.next().first)
            #expect(receipt.userId == "ana")
            #expect(receipt.lastReadTimetoken == first)
        }
    }

    @Test("leave out channels that are hidden for good", arguments: MatchStrategy.allCases)
    func hidden(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let (membership, _) = try await crew(chat)
            try await membership.channel.hide(allowAutoUnhide: false)
            #expect(try await membership.channel.getMembership(userId: "ana")?.isHidden == true)
            #expect(try await chat.getTotalUnreadMessageCount().total == 0)
            try await membership.channel.unhide()
            #expect(try await membership.channel.getMembership(userId: "ana")?.isHidden == false)
            #expect(try await chat.getTotalUnreadMessageCount().total == 2)
        }
    }
}
