import ChatKit
import ChatModel
import Testing

/// A conversation of two users: ana's client is ChatKit with a token, ben's is REST with a token, or PubNub. After each
/// step the views of ChatKit, REST and PubNub are equal (`docs/pubnub-migration.md`, "The same fact on both sides").
@Suite("A conversation through ChatKit", .timeLimit(.minutes(3))) struct ConversationTests {
    @Test("is the same for ChatKit, REST and PubNub's wire after each step, in records and in events")
    func conversation() async throws {
        try await withGateway { url in
            let stage = try await ConversationStage(url)
            do { try await Self.play(stage) } catch {
                await stage.close()
                throw error
            }
            await stage.close()
        }
    }

    private static func play(_ stage: ConversationStage) async throws {
        try await meet(stage)
        let (said, answer) = try await talk(stage)
        try await discuss(said, answer, stage)
        try await part(stage)
    }

    /// Ben invites ana, she accepts, and both type.
    private static func meet(_ stage: ConversationStage) async throws {
        try await stage.rest("POST", "/channels/crew.a/invites", #"{"users":["ana"]}"#)
        try await stage.expect(
            ["invited to crew.a by ben"], wire: ["membership set ana"], isMember: false)
        #expect(try await stage.wireView().members == ["ana invited", "ben joined"])
        try await stage.crew.join()
        try await stage.follow()
        try await stage.expect([], wire: ["membership set ana"])

        try await stage.signal(#"{"type":"typing","value":true}"#)
        try await stage.expect(["typing: ben"])
        try await stage.crew.startTyping()
        try await stage.expect(["typing: ana, ben"], wire: ["typing true ana"])
        try await stage.rest("DELETE", "/channels/crew.a/typing/ben")
        try await stage.expect(["typing: ana"])
        try await stage.crew.stopTyping()
        try await stage.expect(["typing: "], wire: ["typing false ana"])
    }

    /// Both users write, mention each other, and read.
    private static func talk(_ stage: ConversationStage) async throws -> (said: Timetoken, answer: Timetoken) {
        let crew = stage.crew
        let said = try await crew.sendText("hello @ben", usersToMention: ["ben"])
        try await stage.expect(["message hello @ben by ana"], wire: ["message hello @ben ana", "mention \(said) ana"])
        try await stage.signal(#"{"type":"receipt","messageTimetoken":"\#(said)"}"#)
        try await stage.expect(["ben has read \(said)"])
        #expect(try await stage.wireView().marks == ["ben \(said)"])

        let answer = try await stage.publish(ConversationStage.room, #"{"type":"text","text":"hi @ana","files":[]}"#)
        _ = try await stage.publish("ana", #"{"type":"mention","messageTimetoken":"\#(answer)","channel":"crew.a"}"#)
        try await stage.expect(["message hi @ana by ben", "mentioned in \(answer) by ben"])
        #expect(try await stage.wireView().unread == 1)
        let membership = try #require(try await crew.getMembership(userId: "ana"))
        try await membership.setLastReadMessageTimetoken(answer)
        try await stage.expect(["ana has read \(answer)"], wire: ["receipt \(answer) ana", "membership set ana"])
        #expect(try await stage.restView().marks == ["ana \(answer)", "ben \(said)"])
        #expect(try await stage.restView().unread == 0)
        return (said, answer)
    }

    /// Threads, reactions, edits and a deletion, by each user.
    private static func discuss(_ said: Timetoken, _ answer: Timetoken, _ stage: ConversationStage) async throws {
        let crew = stage.crew
        let first = try #require(try await crew.getMessage(timetoken: said))
        let second = try #require(try await crew.getMessage(timetoken: answer))
        let thread = "PUBNUB_INTERNAL_THREAD_crew.a_\(said)"

        _ = try await stage.publish(thread, #"{"type":"text","text":"one","files":[]}"#)
        try await stage.expect(["message one by ben", "thread.updated \(said)"])
        try await second.createThread().sendText("two")
        try await stage.expect(
            ["message two by ana", "thread.updated \(answer)"],
            wire: ["message two ana", "threadRootId PUBNUB_INTERNAL_THREAD_crew.a_\(answer) ana"])
        try await stage.rest("POST", "/channels/crew.a/messages", #"{"text":"three","thread_of":"\#(said)"}"#)
        try await stage.expect(["message three by ben", "thread.updated \(said)"])
        #expect(try await stage.wireView().replies == ["\(answer) two", "\(said) one", "\(said) three"].sorted())

        _ = try await first.toggleReaction("heart")
        try await stage.expect(["reaction.added \(said)"], wire: ["reactions heart ana"])
        try await stage.act(on: answer, "reactions", "+1")
        try await stage.expect(["reaction.added \(answer)"])
        try await stage.rest("PUT", "/channels/crew.a/messages/\(said)/reactions/wow")
        try await stage.expect(["reaction.added \(said)"])
        _ = try await first.toggleReaction("heart")
        try await stage.expect(["reaction.removed \(said)"], wire: ["reactions heart ana"])
        #expect(try await stage.wireView().reactions == ["\(answer) +1 ben", "\(said) wow ben"].sorted())

        _ = try await first.editText("hello, ben")
        try await stage.expect(["message.updated \(said)"], wire: ["edited hello, ben ana"])
        try await stage.act(on: answer, "edited", "hi, ana")
        try await stage.expect(["message.updated \(answer)"])
        try await stage.rest("PATCH", "/channels/crew.a/messages/\(answer)", #"{"text":"hi, dear ana"}"#)
        try await stage.expect(["message.updated \(answer)"])
        #expect(
            try await stage.wireView().texts
                == ["\(answer) ben hi, dear ana", "\(said) ana hello, ben"].sorted())

        let wrong = try await stage.publish(ConversationStage.room, #"{"type":"text","text":"wrong","files":[]}"#)
        try await stage.expect(["message wrong by ben"])
        try await stage.act(on: wrong, "deleted", "deleted")
        try await stage.expect(["message.deleted \(wrong)"])
    }

    /// Ana is muted, banned and readmitted, and leaves.
    private static func part(_ stage: ConversationStage) async throws {
        let crew = stage.crew
        try await stage.rest("PUT", "/channels/crew.a/restrictions/ana", #"{"mute":true,"reason":"loud"}"#)
        try await stage.expect(["restricted in crew.a: mute, loud"])
        #expect(try await stage.wireView().restriction == "mute, loud")
        let muted = await #expect(throws: ChatError.self) { try await crew.sendText("while muted") }
        #expect(muted?.slug == "muted")
        try await stage.rest("DELETE", "/channels/crew.a/restrictions/ana")
        try await stage.expect(["restricted in crew.a: nothing"])

        try await stage.rest("PUT", "/channels/crew.a/restrictions/ana", #"{"ban":true,"reason":"spam"}"#)
        try await stage.expect(
            ["restricted in crew.a: ban, spam"], wire: ["membership delete ana"], isMember: false)
        #expect(try await stage.wireView().members == ["ben joined"])
        let banned = await #expect(throws: ChatError.self) { try await crew.sendText("while banned") }
        #expect(banned?.code == .forbidden)
        try await stage.rest("DELETE", "/channels/crew.a/restrictions/ana")
        try await stage.expect(["restricted in crew.a: nothing"], isMember: false)

        try await stage.rest("POST", "/channels/crew.a/invites", #"{"users":["ana"]}"#)
        try await stage.expect(
            ["invited to crew.a by ben"], wire: ["membership set ana"], isMember: false)
        let membership = try await crew.join()
        try await stage.follow()
        let newest = try #require(try await crew.getHistory().messages.last).timetoken
        try await membership.setLastReadMessageTimetoken(newest)
        try await stage.expect(
            ["ana has read \(newest)"],
            wire: ["membership set ana", "receipt \(newest) ana", "membership set ana"])
        try await crew.leave()
        try await stage.expect([], wire: ["membership delete ana"], isMember: false)
        #expect(try await stage.wireView().members == ["ben joined"])
        // No other event arrived before this one.
        try await stage.rest("POST", "/channels/crew.a/invites", #"{"users":["ana"]}"#)
        try await stage.expect(
            ["invited to crew.a by ben"], wire: ["membership set ana"], isMember: false)
    }
}
