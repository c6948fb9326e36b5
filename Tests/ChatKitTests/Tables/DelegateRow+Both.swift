import ChatKit

/// What open channels and groups have in common.
extension DelegateRow {
    /// The first three of each: of messages, which `ana` sends on her phone.
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

    /// Of the channel's record and values.
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
