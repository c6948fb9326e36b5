import ChatKit

extension DelegateRow {
    private static let inside: Set<Ear> = [.phone, .tablet, .ben]

    /// Of open channels: who is inside is told. `ana` made the lobby and is inside, and so is `ben`.
    static let open: [DelegateRow] =
        messages("lobby", everybody: inside) + [
            DelegateRow("o4", "didReceiveMention lobby", calls: [.phone, .tablet, .ben]) { stage in
                // Includes the device that sent it, and leaves out who is not inside.
                try await stage.lobby().sendText("all here?", usersToMention: ["ana", "ben", "eve"])
            },
            DelegateRow("o6", "channelWasDeleted lobby open", calls: inside) { try await $0.lobby().delete() },
        ] + record("lobby", changed: inside, everybody: inside) + [
            DelegateRow("o15", "userDidEnter eve lobby", calls: [.phone, .tablet, .ben, .eve]) { stage in
                try await stage.lobby(.eve).enter()
            },
            DelegateRow("o16", "userDidExit ben lobby", calls: [.phone, .tablet]) { try await $0.lobby(.ben).exit() },
            DelegateRow("o17", "userWasMuted ben lobby", calls: inside) { stage in
                try await stage.lobby().setRestrictions(user: stage.chat(.ben).currentUser, mute: true)
            },
            DelegateRow(
                "o18", "userWasUnmuted ben lobby", calls: inside,
                before: { try await $0.lobby().setRestrictions(user: $0.chat(.ben).currentUser, mute: true) }
            ) { try await $0.lobby().setRestrictions(user: $0.chat(.ben).currentUser) },
            DelegateRow("o19", "userWasBanned eve lobby", calls: [.phone, .tablet, .ben, .eve]) { stage in
                try await stage.lobby().setRestrictions(user: stage.chat(.eve).currentUser, ban: true)
            },
            DelegateRow(
                "o20", "userWasUnbanned eve lobby", calls: [.phone, .tablet, .ben, .eve],
                before: { try await $0.lobby().setRestrictions(user: $0.chat(.eve).currentUser, ban: true) }
            ) { try await $0.lobby().setRestrictions(user: $0.chat(.eve).currentUser) },
            DelegateRow(
                "o21", #"channelDidChangeParticipantCount ["lobby"]"#, calls: [.phone, .tablet, .ben, .eve]
            ) { try await $0.lobby(.eve).enter() },
        ]
}
