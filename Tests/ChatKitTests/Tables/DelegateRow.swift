import ChatKit
import Testing

/// A callback of a delegate: its cause, and the devices whose delegates receive it. No other device does.
struct DelegateRow: Sendable, CustomTestStringConvertible {
    /// `o` for open channels, `g` for groups or `u` for users, followed by a number.
    let id: String
    let callback: String
    let calls: Set<Ear>
    let before: EventRow.Act
    let cause: EventRow.Act

    init(
        _ id: String, _ callback: String, calls: Set<Ear>, before: @escaping EventRow.Act = { _ in },
        cause: @escaping EventRow.Act
    ) {
        self.id = id
        self.callback = callback
        self.calls = calls
        self.before = before
        self.cause = cause
    }

    var testDescription: String { "\(id) \(callback)" }

    static let all =
        open + group + [
            DelegateRow("u1", "didUpdateTotalUnreadMessageCount 1", calls: [.phone, .tablet]) { stage in
                _ = try await stage.message(in: stage.crew(), by: .ben)
            }
        ]
}

/// Rows that open channels and groups have in common.
extension DelegateRow {
    /// The first three rows of each: messages that `ana` sends on her phone.
    static func messages(_ channel: String, everybody: Set<Ear>) -> [DelegateRow] {
        let kind = channel == "lobby" ? "o" : "g"
        let others = everybody.subtracting([.phone])
        return [
            DelegateRow("\(kind)1", "didReceiveMessage \(channel)", calls: others) { stage in
                try await stage.chat(.phone).channel(channel).sendText("hi")
            },
            DelegateRow("\(kind)2", "didUpdateMessage \(channel)", calls: others) { stage in
                _ = try await stage.message(in: stage.chat(.phone).channel(channel)).editText("hello")
            },
            DelegateRow("\(kind)3", "messageWasDeleted \(channel)", calls: everybody) { stage in
                try await stage.message(in: stage.chat(.phone).channel(channel)).delete(soft: true)
            },
        ]
    }

    /// Rows for the channel's record and values.
    static func record(_ name: String, changed: Set<Ear>, everybody: Set<Ear>) -> [DelegateRow] {
        let ids = name == "lobby" ? ["o5"] + (7...14).map { "o\($0)" } : ["g6"] + (8...15).map { "g\($0)" }
        let hasMetaData: EventRow.Act = { try await $0.chat(.phone).channel(name).createMetaData(["k": "a"]) }
        let hasCounters: EventRow.Act = { try await $0.chat(.phone).channel(name).createMetaCounters(["k": 1]) }
        return [
            DelegateRow(ids[0], "channelWasChanged \(name)", calls: changed) { stage in
                _ = try await stage.chat(.phone).channel(name).update(name: "New")
            },
            DelegateRow(ids[1], "channelWasFrozen \(name)", calls: everybody) { stage in
                try await stage.chat(.phone).channel(name).freeze()
            },
            DelegateRow(
                ids[2], "channelWasUnfrozen \(name)", calls: everybody,
                before: { try await $0.chat(.phone).channel(name).freeze() }
            ) { try await $0.chat(.phone).channel(name).unfreeze() },
            DelegateRow(ids[3], #"createdMetaData ["k": "a"] \#(name)"#, calls: everybody, cause: hasMetaData),
            DelegateRow(
                ids[4], #"updatedMetaData ["k": "b"] \#(name)"#, calls: everybody, before: hasMetaData
            ) { try await $0.chat(.phone).channel(name).updateMetaData(["k": "b"]) },
            DelegateRow(
                ids[5], #"deletedMetaDataKeys ["k"] \#(name)"#, calls: everybody, before: hasMetaData
            ) { try await $0.chat(.phone).channel(name).deleteMetaData(key: "k") },
            DelegateRow(ids[6], #"createdMetaCounters ["k": 1] \#(name)"#, calls: everybody, cause: hasCounters),
            DelegateRow(
                ids[7], #"updatedMetaCounters ["k": 3] \#(name)"#, calls: everybody, before: hasCounters
            ) { try await $0.chat(.phone).channel(name).increaseMetaCounters(["k": 2]) },
            DelegateRow(
                ids[8], #"deletedMetaCountersKeys ["k"] \#(name)"#, calls: everybody, before: hasCounters
            ) { try await $0.chat(.phone).channel(name).deleteMetaCounter(key: "k") },
        ]
    }
}

extension DelegateRow {
    private static let inside: Set<Ear> = [.phone, .tablet, .ben]

    /// Rows for open channels, whose participants are announced. `ana` created the lobby; she and `ben` are inside.
    static let open: [DelegateRow] =
        messages("lobby", everybody: inside) + [
            DelegateRow("o4", "didReceiveMention lobby", calls: [.phone, .tablet, .ben]) { stage in
                // Includes the sending device and excludes users who are not inside.
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
