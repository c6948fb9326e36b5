import ChatKit
import Dispatch
import Testing

@Suite("The closures of subscriptions", .timeLimit(.minutes(2))) struct SubscriptionEventTests {
    @Test("receive events as one enumeration, by kind", arguments: MatchStrategy.allCases)
    func kinds(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let heard = Heard<String>()
            let room = chat.channel("room")
            let subscription = room.subscription(presence: true)
            subscription.onEvent = { event in
                switch event {
                case .messageReceived(let message):
                    let label = message.metadata?["a"].map { "\($0.text)" } ?? "-"
                    heard("message \(message.publisher ?? "-") \(message.payload.text) \(label)")
                case .signalReceived(let signal): heard("signal \(signal.payload.text) \(signal.published > .zero)")
                case .fileChanged: heard("file")
                case .messageActionChanged(let action): heard("action \(Self.word(action.change))")
                case .presenceChanged(let change):
                    heard("presence \(change.actions.map(Self.word)) \(change.occupancy)")
                case .appContextChanged(let change): heard("record \(change.event.type)")
                case .other(let event): heard("other \(event.type)")
                }
            }
            subscription.subscribe()
            try await subscription.ready()
            let timetoken = try await room.publish("m", meta: ["a": 1])
            try await room.signal(1)
            #expect(await heard.next(2) == [#"message ana "m" 1"#, "signal 1 true"])
            let message = try #require(try await room.getMessage(timetoken: timetoken))
            try await message.toggleReaction("heart")
            #expect(await heard.next() == ["action added reactions heart ana"])
            _ = try await message.edit(content: "n")
            #expect(await heard.next() == [#"action updated "n""#])
            try await message.createThread().sendText("why?")
            #expect(Set(await heard.next(2)) == ["action replies 1", #"message ana {"text":"why?"} -"#])
            try await message.delete(soft: true)
            #expect(await heard.next() == ["action deleted"])
            try await room.appear()
            #expect(await heard.next() == [#"presence ["join ana"] 1"#])
            try await room.setState(["mood": "fine"])
            try await room.disappear()
            #expect(
                await heard.next(2) == [#"presence ["state fine of ana"] 1"#, #"presence ["leave ana"] 0"#])
        }
    }

    private static func word(_ change: MessageActionEvent.Change) -> String {
        switch change {
        case .added(let action): "added \(action.type) \(action.value) \(action.userId)"
        case .removed(let action): "removed \(action.type) \(action.value) \(action.userId)"
        case .updated(let data): "updated \(data.map { "\($0.text)" } ?? "-")"
        case .deleted: "deleted"
        case .threadUpdated(let count): "replies \(count)"
        }
    }

    private static func word(_ action: PresenceChange.Action) -> String {
        switch action {
        case .join(let users): "join \(users.joined(separator: ", "))"
        case .leave(let users): "leave \(users.joined(separator: ", "))"
        case .timeout(let users): "timeout \(users.joined(separator: ", "))"
        case .stateChange(let user, let state): "state \(state["mood"]?.string ?? "-") of \(user)"
        }
    }

    @Test("receive typed changes of records and memberships, and no other event", arguments: MatchStrategy.allCases)
    func records(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let heard = Heard<String>()
            let ben = try await chat.createUser(id: "ben", name: "Ben")
            let set = chat.subscription(entities: [chat.channel("crew"), ben])
            set.onAppContext = { event in
                switch event {
                case .userSet(let change): heard("user \(change.record.name ?? "-") \(change.changes.map(\.key))")
                case .userRemoved(_, let user): heard("user \(user) gone")
                case .channelSet(let change):
                    let changes = change.changes.map { "\($0.key)=\($0.new?.string ?? "-")" }
                    heard("channel \(change.isNew ? "new" : changes.joined(separator: ", "))")
                case .channelRemoved(_, let channel): heard("channel \(channel) gone")
                case .membershipSet(let change): heard("member \(change.record.userId) \(change.isNew)")
                case .membershipRemoved(_, let user, let channel): heard("member \(user) of \(channel) gone")
                }
            }
            set.subscribe()
            try await set.ready()
            let crew = try await chat.createChannel(id: "crew", type: .public)
            #expect(await heard.next(2) == ["channel new", "member ana true"])
            _ = try await crew.update(name: "Crew")
            #expect(await heard.next() == ["channel name=Crew"])
            try await crew.setRestrictions(user: ben, mute: true)
            let backend = try await chat.acting(as: "cleo").channel("crew")
            let membership = try await backend.join()
            #expect(await heard.next() == ["member cleo true"])
            _ = try await membership.update(status: "away")
            #expect(await heard.next() == ["member cleo false"])
            try await backend.leave()
            #expect(await heard.next() == ["member cleo of crew gone"])
            _ = try await ben.update(name: "Benjamin")
            #expect(await heard.next() == [#"user Benjamin ["name"]"#])
            try await ben.delete()
            #expect(await heard.next() == ["user ben gone"])
            try await crew.delete()
            #expect(await heard.next().last?.hasSuffix("gone") == true)
        }
    }

    @Test("know the pattern or group by which an event came", arguments: MatchStrategy.allCases)
    func matched(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            try await chat.channelGroup("news").addChannels([chat.channel("sport")])
            let heard = Heard<String>()
            let set = SubscriptionSet(subscriptions: [
                chat.subscription(channels: ["orders.*"]), chat.channelGroup("news").subscription(),
                chat.channel("plain").subscription(),
            ])
            set.onMessage = { heard("\($0.channel.name) by \($0.subscription ?? "its name")") }
            set.subscribe()
            try await set.ready()
            for name in ["orders.eu", "sport", "plain"] {
                try await chat.channel(name).publish(1)
                let way = name == "orders.eu" ? "orders.*" : name == "sport" ? "news" : "its name"
                #expect(await heard.next() == ["\(name) by \(way)"])
            }
        }
    }

    @Test("of a set run on its queue, for each of its subscriptions", arguments: MatchStrategy.allCases)
    func queued(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let queue = DispatchQueue(label: "screen")
            queue.setSpecific(key: Self.place, value: "screen")
            let heard = Heard<String>()
            let set = chat.subscription(queue: queue, entities: [chat.channel("a"), chat.channel("b")])
            set.onMessage = { heard("\($0.channel.name) on \(DispatchQueue.getSpecific(key: Self.place) ?? "-")") }
            set.subscribe()
            try await set.ready()
            try await chat.channel("a").publish(1)
            #expect(await heard.next() == ["a on screen"])
            let first = set.subscriptions[0]
            set.remove(subscription: first)
            #expect(!first.isSubscribed)
            try await chat.channel("a").publish(2)
            try await chat.channel("b").publish(3)
            #expect(await heard.next() == ["b on screen"])
            let added = chat.channel("c").subscription()
            set.add(subscription: added)
            added.subscribe()
            try await added.ready()
            try await chat.channel("c").publish(4)
            #expect(await heard.next() == ["c on screen"])
        }
    }

    private static let place = DispatchSpecificKey<String>()

    @Test("of a clone receive events when the original is subscribed", arguments: MatchStrategy.allCases)
    func cloned(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let original = chat.channel("a").subscription()
            #expect(!original.clone().isSubscribed)
            original.onMessage = { _ in }
            original.subscribe()
            let clone = original.clone()
            #expect(clone.isSubscribed)
            #expect(clone.onMessage == nil)
            let heard = Heard<String>()
            clone.onMessage = { heard("\($0.payload.text)") }
            try await clone.ready()
            try await chat.channel("a").publish(1)
            #expect(await heard.next() == ["1"])
        }
    }

    @Test("follow a changed filter without loss or repeat", arguments: MatchStrategy.allCases)
    func refiltered(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let orders = chat.channel("orders")
            let heard = Heard<String>()
            let subscription = orders.subscription(filter: "data.amount > 100")
            subscription.onMessage = { heard("\($0.payload.text)") }
            subscription.subscribe()
            try await subscription.ready()
            for amount in [10, 200] { try await orders.publish(["amount": amount]) }
            #expect(await heard.next() == [#"{"amount":200}"#])
            subscription.filter = "data.amount < 50"
            try await subscription.ready()
            for amount in [300, 20] { try await orders.publish(["amount": amount]) }
            #expect(await heard.next() == [#"{"amount":20}"#])
            #expect(subscription.filter == "data.amount < 50")
        }
    }

    @Test("start now when the position does not have 17 digits", arguments: MatchStrategy.allCases)
    func position(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let room = chat.channel("room")
            let first = try await room.publish("old")
            try await room.publish("kept")
            let heard = Heard<String>()
            let (short, exact) = (room.subscription(), room.subscription())
            short.onMessage = { heard("short \($0.payload.text)") }
            short.subscribe(with: Timetoken(1_732_412_345))
            try await short.ready()
            exact.onMessage = { heard("exact \($0.payload.text)") }
            exact.subscribe(with: first)
            #expect(await heard.next() == [#"exact "kept""#])
            try await room.publish("new")
            #expect(Set(await heard.next(2)) == [#"exact "new""#, #"short "new""#])
        }
    }

    @Test("receive the objects that the subscription requests", arguments: MatchStrategy.allCases)
    func included(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            _ = try await chat.currentUser.update(name: "Ana")
            let crew = try await chat.createChannel(id: "crew", name: "Crew", type: .group)
            var events = crew.subscription(include: [.user, .channel, .member]).makeAsyncIterator()
            var bare = crew.subscription().makeAsyncIterator()
            try await events.open()
            try await bare.open()
            try await crew.sendText("hello")
            let event = try #require(await events.next())
            #expect(event.included?.user?.name == "Ana")
            #expect(event.included?.channel?.name == "Crew")
            #expect(event.included?.member?.userId == "ana")
            #expect(event.included?.thread == nil)
            #expect(try #require(await bare.next()).included == nil)
        }
    }
}
