import ChatKit
import Testing

/// A type of the catalogue: its cause, and the devices that receive it. No other device does.
struct EventRow: Sendable, CustomTestStringConvertible {
    typealias Act = @Sendable (Stage) async throws -> Void

    let type: String
    let hears: Set<Ear>
    /// The channel of the event; nil for any channel.
    var channel: String?
    var ways = MatchStrategy.allCases
    /// Preparation before any device listens.
    var before: Act = { _ in }
    let cause: Act

    init(
        _ type: String, on channel: String? = "crew", hears: Set<Ear>, ways: [MatchStrategy] = MatchStrategy.allCases,
        before: @escaping Act = { _ in }, cause: @escaping Act
    ) {
        self.type = type
        self.channel = channel
        self.hears = hears
        self.ways = ways
        self.before = before
        self.cause = cause
    }

    var testDescription: String { type }

    func isAbout(_ event: Event) -> Bool {
        event.type == type && (channel.map { $0 == event.channel.name } ?? true)
    }

    static let all = messages + members + records + values + attendance + connections
}

extension EventRow {
    static let attendance: [EventRow] = [
        EventRow("participant.entered", on: "lobby", hears: [.phone, .tablet, .ben, .eve]) { stage in
            try await stage.lobby(.eve).enter()
        },
        EventRow("participant.exited", on: "lobby", hears: [.phone, .tablet]) { try await $0.lobby(.ben).exit() },
        EventRow("channel.participant_count.updated", on: "lobby", hears: [.phone, .tablet, .ben, .eve]) { stage in
            try await stage.lobby(.eve).enter()
        },
        EventRow("presence.joined", hears: [.phone, .tablet, .ben]) { try await $0.crew(.ben).appear() },
        EventRow("presence.left", hears: [.phone, .tablet, .ben], before: isPresent) { stage in
            try await stage.crew(.ben).disappear()
        },
        EventRow("presence.state_changed", hears: [.phone, .tablet, .ben], before: isPresent) { stage in
            try await stage.crew(.ben).setState(["mood": "fine"])
        },
        EventRow("presence.timed_out", hears: [.phone, .tablet, .ben]) { try await $0.crew(.ben).appear(for: 2) },
        EventRow("presence.interval", hears: [.phone, .tablet, .ben]) { stage in
            // Above the limit for single announcements, arrivals and departures are announced together.
            let backend = try #require(stage.backends[.phone])
            for number in 0..<22 {
                try await backend.acting(as: "u\(number)").appear(in: "crew", for: nil, state: nil)
            }
        },
    ]

    private static let isPresent: Act = { try await $0.crew(.ben).appear() }

    /// A chat in the program's own process has no connection that could break.
    static let connections: [EventRow] = [
        EventRow("connection.opened", on: "ana", hears: [.phone, .tablet], ways: [.gateway]) { stage in
            _ = await Listening.device(of: try stage.anotherDevice())
        },
        EventRow("connection.reconnecting", on: "ana", hears: [.phone, .tablet], ways: [.gateway]) { stage in
            await Listening.device(of: try stage.anotherDevice()).close()
        },
        EventRow("connection.reconnected", on: "ana", hears: [.phone, .tablet], ways: [.gateway]) { stage in
            let device = try stage.anotherDevice()
            let watch = await Listening.device(of: device.acting(as: "ana"))
            await Listening.device(of: device).close()
            _ = await watch.first { $0.type == "connection.reconnecting" }
            _ = await Listening.device(of: device)
        },
    ]
}

extension Stage {
    fileprivate func anotherDevice() throws -> any ChatBackend { try #require(backends[.phone]).acting(as: "ana") }
}

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
