import ChatKit

extension DelegateRow {
    private static let joined: Set<Ear> = [.phone, .tablet, .ben]
    private static let members: Set<Ear> = [.phone, .tablet, .ben, .cleo, .dora]

    /// Rows for groups. Joins are announced; invitations only where the row says so. `ana` created the crew, and `ben`
    /// has joined.
    static let group: [DelegateRow] =
        messages("crew", everybody: joined)
        + [
            DelegateRow("g4", "didReceiveMention crew", calls: [.tablet, .ben]) { stage in
                try await stage.crew().sendText("all here?", usersToMention: ["ana", "ben", "eve"])
            },
            DelegateRow("g5", "updatedReaction crew", calls: joined) { stage in
                try await stage.message(in: stage.crew()).toggleReaction("wave")
            },
            DelegateRow("g7", "channelWasDeleted crew group", calls: members) { try await $0.crew().delete() },
        ] + record("crew", changed: members, everybody: joined) + comings + [
            DelegateRow("g16", "channelWasHidden crew", calls: [.phone, .tablet]) { try await $0.crew().hide() },
            DelegateRow("g21", "channelDidUpdateDeliveryReceipt crew", calls: [.tablet, .ben]) { stage in
                _ = try await stage.message(in: stage.crew(), by: .ben)
                try await stage.crew().markAsDelivered()
            },
            DelegateRow("g22", "channelDidUpdateReadReceipt crew", calls: [.tablet, .ben, .cleo, .dora]) { stage in
                _ = try await stage.message(in: stage.crew(), by: .ben)
                try await stage.crew().markAsRead()
            },
            DelegateRow("g23", "channelDidUpdateTypingStatus crew", calls: [.ben]) { stage in
                try await stage.crew().startTyping()
            },
            DelegateRow("g24", "channelDidUpdateThreadInfo 1 crew", calls: [.tablet, .ben]) { stage in
                try await stage.message(in: stage.crew()).createThread().sendText("indeed")
            },
            DelegateRow("g25", "userWasMuted ben crew", calls: joined, cause: EventRow.mutes(.ben)),
            DelegateRow("g26", "userWasUnmuted ben crew", calls: joined, before: EventRow.mutes(.ben)) { stage in
                try await stage.crew().setRestrictions(user: stage.chat(.ben).currentUser)
            },
            DelegateRow(
                "g27", "userWasBanned eve crew", calls: [.phone, .tablet, .ben, .eve], cause: EventRow.bans(.eve)),
            DelegateRow(
                "g28", "userWasUnbanned eve crew", calls: [.phone, .tablet, .ben, .eve], before: EventRow.bans(.eve)
            ) { try await $0.crew().setRestrictions(user: $0.chat(.eve).currentUser) },
            DelegateRow("g29", #"channelDidChangeMemberCount ["crew"]"#, calls: members) { stage in
                try await stage.crew(.cleo).join()
            },
        ]

    private static let comings: [DelegateRow] = [
        DelegateRow("g17", #"didReceiveInvitation ["eve"] ana crew"#, calls: members.union([.eve])) { stage in
            try await stage.crew().invite(stage.chat(.eve).currentUser)
        },
        DelegateRow("g18", "didDeclineInvitation cleo ana crew", calls: joined.union([.cleo])) { stage in
            try await stage.crew(.cleo).declineInvite()
        },
        DelegateRow("g19", "userDidJoin cleo crew", calls: joined.union([.cleo])) { try await $0.crew(.cleo).join() },
        DelegateRow("g20", "userDidLeave ben crew", calls: joined) { try await $0.crew(.ben).leave() },
    ]
}
