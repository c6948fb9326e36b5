import ChatModel
import JSON
import Testing

@testable import ChatCore

@Suite("An attachment to a message", .timeLimit(.minutes(2))) struct ReactionsTests {
    @Test("is a reaction once for each user and value, and is announced when it changes")
    func reactions() async throws {
        try await withChat { chat in
            try await chat.make("room", .group)
            try await chat.join("ben")
            let sent = try await chat.say("hi", by: "ana")
            for _ in 0..<2 { try await chat.of("ben").react("smile", to: sent, in: "room", by: nil) }
            try await chat.react("smile", to: sent, in: "room", by: "cleo")
            try await chat.react("a/b", to: sent, in: "room", by: "cleo")
            #expect(try await chat.message(sent, in: "room").record.reactions == ["smile": 2, "a/b": 1])
            let listed = try await chat.reactions(to: sent, in: "room", RecordList(limit: 10)).items
            #expect(listed.map { "\($0.value) \($0.user)" } == ["a/b cleo", "smile ben", "smile cleo"])
            #expect(try await chat.of("ben").removeReaction(reaction: "smile", to: sent, in: "room", by: nil))
            #expect(try await !chat.of("ben").removeReaction(reaction: "smile", to: sent, in: "room", by: nil))
            try await chat.removeReaction(reaction: "smile", to: sent, in: "room", by: "cleo")
            #expect(try await chat.message(sent, in: "room").record.reactions == ["a/b": 1])
            let told = try await chat.told()
            #expect(
                told.map(\.type) == Array(repeating: "reaction.added", count: 3) + [
                    "reaction.removed", "reaction.removed",
                ])
            #expect(told.map(\.user) == ["ben", "cleo", "cleo", "ben", "cleo"])
            #expect(told.allSatisfy { $0.audience == .rule(.joined) })
            #expect(told[0].value?["reaction"]?["action_timetoken"]?.string == told[0].timetoken.description)
            #expect(listed[1].timetoken == told[0].timetoken)
            #expect(told.map { $0.value?["reaction_count"]?.integer } == [1, 2, 1, 1, 0])
        }
    }

    @Test("belongs to a user, and has a bounded length")
    func refusals() async throws {
        try await withChat { chat in
            let sent = try await chat.say("hi", by: "ana")
            try await expect(.malformed) { try await chat.react("smile", to: sent, in: "room", by: nil) }
            for value in ["", String(repeating: "x", count: 129)] {
                try await expect(.malformed) { try await chat.react(value, to: sent, in: "room", by: "ana") }
            }
            try await expect(.forbidden) { try await chat.of("ben").react("smile", to: sent, in: "room", by: "ana") }
            try await expect(.notFound) { try await chat.react("smile", to: 1, in: "room", by: "ana") }
        }
    }

    @Test("is counted exactly when two hundred come at once, each of them twice")
    func race() async throws {
        try await withChat { chat in
            let sent = try await chat.say("hi", by: "ana")
            try await atOnce(400) { number in
                try await chat.react("v\(number % 4)", to: sent, in: "room", by: "user\(number % 200)")
            }
            #expect(
                try await chat.message(sent, in: "room").record.reactions == ["v0": 50, "v1": 50, "v2": 50, "v3": 50])
            #expect(try await chat.told().count == 200)
            try await atOnce(200) { number in
                try await chat.removeReaction(reaction: "v\(number % 4)", to: sent, in: "room", by: "user\(number)")
            }
            #expect(try await chat.message(sent, in: "room").record.reactions.isEmpty)
        }
    }

    @Test("has at most so many different reactions")
    func bound() async throws {
        var limits = Limits()
        limits.reactionsPerMessage = 2
        limits.actionsPerMessage = 1
        try await withChat(limits: limits) { chat in
            let sent = try await chat.say("hi", by: "ana")
            for value in ["a", "b"] { try await chat.react(value, to: sent, in: "room", by: "ana") }
            try await expect(.tooMany) { try await chat.react("c", to: sent, in: "room", by: "ana") }
            try await chat.react("a", to: sent, in: "room", by: "ben")
            _ = try await chat.addAction("t", "1", to: sent, in: "room", by: "ana")
            try await expect(.tooMany) { _ = try await chat.addAction("t", "2", to: sent, in: "room", by: "ana") }
        }
    }

    @Test("is an action once for each type, value and user, and is removed by its timetoken")
    func actions() async throws {
        try await withChat { chat in
            let sent = try await chat.say("hi", by: "ana")
            let ben = chat.of("ben")
            let action = try await ben.addAction("seen", "kitchen", to: sent, in: "room", by: nil)
            try await expect(.conflict) {
                _ = try await ben.addAction("seen", "kitchen", to: sent, in: "room", by: nil)
            }
            _ = try await ben.addAction("reactions", "smile", to: sent, in: "room", by: nil)
            try await expect(.conflict) {
                _ = try await ben.addAction("reactions", "smile", to: sent, in: "room", by: nil)
            }
            #expect(try await chat.message(sent, in: "room").record.reactions == ["smile": 1])
            let listed = try await chat.actions(of: sent, in: "room", RecordList(limit: 10)).items
            #expect(listed.map(\.type) == ["reactions", "seen"] && listed[1] == action)
            try await expect(.forbidden) {
                try await chat.of("cleo").removeAction(action.timetoken, from: sent, in: "room", by: nil)
            }
            for action in listed { try await ben.removeAction(action.timetoken, from: sent, in: "room", by: nil) }
            #expect(try await chat.actions(of: sent, in: "room", RecordList(limit: 10)).items.isEmpty)
            #expect(try await chat.message(sent, in: "room").record.reactions.isEmpty)
            try await expect(.notFound) {
                try await ben.removeAction(action.timetoken, from: sent, in: "room", by: nil)
            }
            #expect(
                try await chat.told().map(\.type) == [
                    "action.added", "reaction.added", "reaction.removed", "action.removed",
                ])
        }
    }

    @Test("edits and deletes where its type says so, and goes back when it is removed")
    func builtIn() async throws {
        try await withChat { chat in
            let sent = try await chat.say("one", by: "ana")
            let ana = chat.of("ana")
            try await expect(.forbidden) {
                _ = try await chat.of("ben").addAction("edited", "x", to: sent, in: "room", by: nil)
            }
            let edit = try await ana.addAction("edited", "two", to: sent, in: "room", by: nil)
            #expect(try await chat.message(sent, in: "room").text == "two" && edit.user == "ana")
            let deletion = try await ana.addAction("deleted", "deleted", to: sent, in: "room", by: nil)
            #expect(try await chat.message(sent, in: "room").isDeleted)
            try await ana.removeAction(deletion.timetoken, from: sent, in: "room", by: nil)
            try await ana.removeAction(edit.timetoken, from: sent, in: "room", by: nil)
            #expect(try await chat.message(sent, in: "room").text == "one")
            let thread = try await ana.addAction("threadRootId", "thread.1", to: sent, in: "room", by: nil)
            #expect(try await chat.message(sent, in: "room").record.thread.channel == "thread.1")
            try await ana.removeAction(thread.timetoken, from: sent, in: "room", by: nil)
            #expect(
                try await chat.told().map(\.type) == [
                    "message.updated", "message.deleted", "message.updated", "message.updated", "thread.updated",
                    "thread.updated",
                ])
        }
    }

    @Test("names one channel for the replies, as long as any user does")
    func threadChannel() async throws {
        try await withChat { chat in
            let sent = try await chat.say("one", by: "ana")
            let first = try await chat.of("ana").addAction("threadRootId", "thread.1", to: sent, in: "room", by: nil)
            let second = try await chat.of("ben").addAction("threadRootId", "thread.1", to: sent, in: "room", by: nil)
            try await expect(.conflict) {
                _ = try await chat.of("ben").addAction("threadRootId", "thread.2", to: sent, in: "room", by: nil)
            }
            try await chat.of("ana").removeAction(first.timetoken, from: sent, in: "room", by: nil)
            #expect(try await chat.message(sent, in: "room").record.thread.channel == "thread.1")
            try await chat.of("ben").removeAction(second.timetoken, from: sent, in: "room", by: nil)
            #expect(try await chat.message(sent, in: "room").record.thread.channel == nil)
            _ = try await chat.of("ben").addAction("threadRootId", "thread.2", to: sent, in: "room", by: nil)
            #expect(try await chat.message(sent, in: "room").record.thread.channel == "thread.2")
        }
    }
}
