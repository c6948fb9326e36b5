import ChatKit

extension EventRow {
    static let records: [EventRow] = [
        EventRow("user.created", on: "zoe", hears: [.zoe]) { stage in
            _ = try await stage.chat(.phone).createUser(id: "zoe")
        },
        EventRow("user.updated", on: "ana", hears: [.phone, .tablet]) { stage in
            _ = try await stage.chat(.phone).currentUser.update(name: "Ana")
        },
        EventRow("user.deleted", on: "eve", hears: [.eve]) { stage in
            try await stage.chat(.eve).currentUser.delete()
        },
        EventRow("user.blocked", on: "ana", hears: [.phone, .tablet]) { stage in
            try await stage.chat(.phone).blockUser(stage.chat(.ben).currentUser)
        },
        EventRow(
            "user.unblocked", on: "ana", hears: [.phone, .tablet],
            before: { stage in try await stage.chat(.phone).blockUser(stage.chat(.ben).currentUser) }
        ) { stage in try await stage.chat(.phone).unblockUser(stage.chat(.ben).currentUser) },
        EventRow("channel.created", on: "club", hears: [.phone, .tablet, .eve]) { stage in
            _ = try await stage.chat(.phone).createGroupConversation(
                invitedUsers: [stage.chat(.eve).currentUser], channelId: "club")
        },
        EventRow("channel.updated", hears: [.phone, .tablet, .ben, .cleo, .dora]) { stage in
            _ = try await stage.crew().update(name: "Crew")
        },
        EventRow("channel.deleted", hears: [.phone, .tablet, .ben, .cleo, .dora]) { try await $0.crew().delete() },
        EventRow("channel.frozen", hears: [.phone, .tablet, .ben]) { try await $0.crew().freeze() },
        EventRow("channel.unfrozen", hears: [.phone, .tablet, .ben], before: { try await $0.crew().freeze() }) {
            try await $0.crew().unfreeze()
        },
    ]

    static let values: [EventRow] = [
        EventRow("channel.metadata.created", hears: [.phone, .tablet, .ben]) { stage in
            try await stage.crew().createMetaData(["topic": "tea"])
        },
        EventRow("channel.metadata.updated", hears: [.phone, .tablet, .ben], before: hasMetaData) { stage in
            try await stage.crew().updateMetaData(["topic": "cups"])
        },
        EventRow("channel.metadata.deleted", hears: [.phone, .tablet, .ben], before: hasMetaData) { stage in
            try await stage.crew().deleteMetaData(key: "topic")
        },
        EventRow("channel.metacounter.created", hears: [.phone, .tablet, .ben]) { stage in
            try await stage.crew().createMetaCounters(["likes": 1])
        },
        EventRow("channel.metacounter.updated", hears: [.phone, .tablet, .ben], before: hasCounters) { stage in
            try await stage.crew().increaseMetaCounters(["likes": 1])
        },
        EventRow("channel.metacounter.deleted", hears: [.phone, .tablet, .ben], before: hasCounters) { stage in
            try await stage.crew().deleteMetaCounter(key: "likes")
        },
    ]

    private static let hasMetaData: Act = { try await $0.crew().createMetaData(["topic": "tea"]) }
    private static let hasCounters: Act = { try await $0.crew().createMetaCounters(["likes": 1]) }
}
