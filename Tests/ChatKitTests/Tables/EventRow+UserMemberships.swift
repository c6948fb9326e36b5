import ChatKit
import Testing

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
            // Above the number of single announcements, comings and goings are told together.
            let backend = try #require(stage.backends[.phone])
            for number in 0..<22 {
                try await backend.acting(as: "u\(number)").appear(in: "crew", for: nil, state: nil)
            }
        },
    ]

    private static let isPresent: Act = { try await $0.crew(.ben).appear() }

    /// In one's own process there is no connection that could break.
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
