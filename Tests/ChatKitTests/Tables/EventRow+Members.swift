import ChatKit

extension EventRow {
    static let members: [EventRow] = [
        EventRow("member.invited", hears: [.phone, .tablet, .ben, .cleo, .dora]) { stage in
            try await stage.crew().invite(stage.chat(.phone).user("nobody"))
        },
        EventRow("member.invited", on: "eve", hears: [.eve]) { stage in
            try await stage.crew().invite(stage.chat(.eve).currentUser)
        },
        EventRow("member.declined", hears: [.phone, .tablet, .ben, .cleo]) { stage in
            try await stage.crew(.cleo).declineInvite()
        },
        EventRow("member.joined", hears: [.phone, .tablet, .ben, .cleo]) { stage in
            try await stage.crew(.cleo).join()
        },
        EventRow("member.left", hears: [.phone, .tablet, .ben]) { stage in try await stage.crew(.ben).leave() },
        EventRow("membership.updated", hears: [.phone, .tablet, .ben, .cleo, .dora]) { stage in
            _ = try await stage.crew(.ben).getMembership(userId: "ben")?.update(status: "away")
        },
        EventRow("channel.member_count.updated", hears: [.phone, .tablet, .ben, .cleo, .dora]) { stage in
            try await stage.crew(.cleo).join()
        },
        EventRow("channel.hidden", hears: [.phone, .tablet]) { try await $0.crew().hide() },
        EventRow("user.muted", hears: [.phone, .tablet, .ben]) { stage in
            try await stage.crew().setRestrictions(user: stage.chat(.ben).currentUser, mute: true)
        },
        EventRow("user.unmuted", hears: [.phone, .tablet, .ben], before: mutes(.ben)) { stage in
            try await stage.crew().setRestrictions(user: stage.chat(.ben).currentUser)
        },
        EventRow("user.banned", hears: [.phone, .tablet, .ben, .eve]) { stage in
            try await stage.crew().setRestrictions(user: stage.chat(.eve).currentUser, ban: true)
        },
        EventRow("user.unbanned", hears: [.phone, .tablet, .ben, .eve], before: bans(.eve)) { stage in
            try await stage.crew().setRestrictions(user: stage.chat(.eve).currentUser)
        },
    ]

    static func mutes(_ ear: Ear) -> Act {
        { stage in try await stage.crew().setRestrictions(user: stage.chat(ear).currentUser, mute: true) }
    }

    static func bans(_ ear: Ear) -> Act {
        { stage in try await stage.crew().setRestrictions(user: stage.chat(ear).currentUser, ban: true) }
    }
}
