import ChatModel
import ChatSupport
import SQLiteEngine
import TestSupport
import Testing

@testable import ChatCore

@Suite("A ban during an arrival") struct BanRaceTests {
    /// Lets `come` read the user's access, bans the user meanwhile, and lets `come` continue.
    ///
    /// - Parameter isLost: true when the access cannot be read again after the ban.
    private func race(
        isLost: Bool = false, _ come: @escaping @Sendable (ChatAccess) async throws(ChatError) -> Void
    ) async throws {
        let engine = try await SQLiteEngine(
            SQLiteEngineSettings(path: ":memory:", clock: .system, logger: ChatFixture.quiet))
        let front = HeldEngine(engine, holding: .restriction, failsLater: isLost)
        let house = try await ChatFixture(on: engine, behind: front, clock: .system)
        try await house.run {
            let chat = house.service.chat(for: ChatFixture.owner)
            _ = try await chat.make(NewChannel(kind: .open, id: "lobby"))
            async let refusal: ChatError? = {
                do throws(ChatError) {
                    try await come(chat)
                    return nil
                } catch { return error }
            }()
            await front.held.reached.wait(count: 1)
            _ = try await chat.restrict("ben", in: "lobby", RestrictionRequest(isBan: true))
            front.held.released.open()
            let error = await refusal
            #expect(isLost ? error?.code == .unavailable : error?.slug == "banned")
            #expect(!chat.tracker.isInside("ben", chat.channel("lobby")))
            #expect(try await chat.presentChannels(of: "ben").isEmpty)
            #expect(try await chat.tracker.store.channels(of: UserID("ben", in: chat.app), as: .typingUser).isEmpty)
        }
    }

    @Test("refuses a message that was about to be sent", arguments: [Retention.kept, .passing])
    func saying(retention: Retention) async throws {
        try await race { chat throws(ChatError) in
            var draft = EventDraft.message(channel: "lobby", data: Room.text("hi"), user: "ben", meta: nil)
            draft.retention = retention
            try await chat.emit(draft)
        }
    }

    @Test("refuses an event that was about to be sent to one user")
    func mentioning() async throws {
        try await race { chat throws(ChatError) in
            let draft = EventDraft.message(channel: "lobby", data: Room.text("hi"), user: "ben", meta: nil)
            _ = try await chat.post(draft, MessageLinks(mentions: .users(["ana"])))
        }
    }

    @Test("refuses a user who was about to enter")
    func entering() async throws {
        try await race { chat throws(ChatError) in _ = try await chat.enter("ben", into: "lobby") }
    }

    @Test("refuses a user who was about to appear")
    func appearing() async throws {
        try await race { chat throws(ChatError) in _ = try await chat.appear("ben", on: "lobby") }
    }

    @Test("refuses a user who was about to appear, when the ban cannot be read")
    func appearingUnread() async throws {
        try await race(isLost: true) { chat throws(ChatError) in _ = try await chat.appear("ben", on: "lobby") }
    }

    @Test("refuses a user who was about to type")
    func typing() async throws {
        try await race { chat throws(ChatError) in try await chat.startTyping("ben", on: "lobby") }
    }
}
