import ChatKit

extension EventRow {
    static let messages: [EventRow] = [
        EventRow("message.created", hears: [.tablet, .ben]) { try await $0.crew().sendText("hi") },
        EventRow("message.updated", hears: [.tablet, .ben]) { stage in
            _ = try await stage.message(in: stage.crew()).editText("hello")
        },
        EventRow("message.deleted", hears: [.phone, .tablet, .ben]) { stage in
            try await stage.message(in: stage.crew()).delete(soft: true)
        },
        EventRow("signal.sent", hears: [.phone, .tablet, .ben]) { try await $0.crew().signal("ping") },
        EventRow("custom", hears: [.phone, .tablet, .ben]) { stage in
            try await stage.crew().emitCustomEvent(payload: ["stars": 5])
        },
        EventRow("reaction.added", hears: [.phone, .tablet, .ben]) { stage in
            try await stage.message(in: stage.crew()).toggleReaction("wave")
        },
        EventRow("reaction.removed", hears: [.phone, .tablet, .ben]) { stage in
            try await stage.message(in: stage.crew()).toggleReaction("wave").toggleReaction("wave")
        },
        EventRow("action.added", hears: [.phone, .tablet, .ben]) { stage in
            try await stage.message(in: stage.crew()).addAction(type: "task", value: "done")
        },
        EventRow("action.removed", hears: [.phone, .tablet, .ben]) { stage in
            let message = try await stage.message(in: stage.crew())
            try await message.removeAction(message.addAction(type: "task", value: "done"))
        },
        EventRow("thread.updated", hears: [.tablet, .ben]) { stage in
            try await stage.message(in: stage.crew()).createThread().sendText("indeed")
        },
        EventRow("user.mentioned", on: "ben", hears: [.ben]) { stage in
            try await stage.crew().sendText("ben and zoe?", usersToMention: ["ben", "zoe"])
        },
        EventRow("report.created", on: "PUBNUB_INTERNAL_MODERATION_crew", hears: []) { stage in
            try await stage.message(in: stage.crew()).report(reason: "shouting")
        },
        EventRow("receipt.read", hears: [.tablet, .ben, .cleo, .dora]) { stage in
            _ = try await stage.message(in: stage.crew(), by: .ben)
            try await stage.crew().markAsRead()
        },
        EventRow("receipt.delivered", hears: [.tablet, .ben]) { stage in
            _ = try await stage.message(in: stage.crew(), by: .ben)
            try await stage.crew().markAsDelivered()
        },
        EventRow("unread_count.updated", on: "ana", hears: [.phone, .tablet]) { stage in
            _ = try await stage.message(in: stage.crew(), by: .ben)
        },
        EventRow("typing.started", hears: [.ben]) { try await $0.crew().startTyping() },
        EventRow("typing.stopped", hears: [.ben]) { stage in
            try await stage.crew().startTyping()
            try await stage.crew().stopTyping()
        },
    ]
}
