import ChatKitCompat
import Dispatch
import TestSupport
import Testing

private struct Person: JSONCodable {
    var lastName: String
    var age: Int
}

@Suite("The samples of subscribing", .timeLimit(.minutes(3))) struct SubscribeSampleTests {
    private func send(_ message: any JSONCodable, to channel: String, _ pubnub: PubNub) async throws -> Timetoken {
        try await outcome { pubnub.publish(channel: channel, message: message, completion: $0) }
    }

    @Test("receive messages in a type of the program, and in parts")
    func messages() async throws {
        try await CompatGateway.run { pubnub, _ in
            let calls = Calls([])
            let subscription = pubnub.channel("room.1").subscription()
            subscription.onMessage = { message in
                if let person = try? message.payload.decode(Person.self) {
                    calls.add("\(person.lastName) \(person.age)")
                } else if let members = message.payload.codableValue.dictionaryOptional {
                    calls.add("members \(members.keys.sorted())")
                } else if let list = message.payload.codableValue.arrayOptional {
                    calls.add("list of \(list.count)")
                } else {
                    calls.add("\(message.payload.codableValue.stringOptional ?? "-") by \(message.publisher ?? "-")")
                }
            }
            await pubnub.connected { _ in subscription.subscribe() }
            _ = try await send(Person(lastName: "Lee", age: 40), to: "room.1", pubnub)
            _ = try await send(["a": 1], to: "room.1", pubnub)
            _ = try await send([1, 2], to: "room.1", pubnub)
            _ = try await send("text", to: "room.1", pubnub)
            await calls.expect(["Lee 40", #"members ["a"]"#, "list of 2", "text by ana"])
            subscription.unsubscribe()
            #expect(pubnub.subscribedChannels.isEmpty && pubnub.connectionStatus == .disconnected)
        }
    }

    @Test("tell who comes, who leaves and what state they have")
    func presence() async throws {
        try await CompatGateway.run { pubnub, gateway in
            let calls = Calls([])
            let subscription = pubnub.channel("room.1").subscription(options: ReceivePresenceEvents())
            subscription.onPresence = { change in
                for action in change.actions {
                    switch action {
                    case .join(let users): calls.add("join \(users) \(change.occupancy)")
                    case .leave(let users): calls.add("leave \(users) \(change.occupancy)")
                    case .timeout(let users): calls.add("timeout \(users)")
                    case .stateChange(let user, let state): calls.add("state \(user) \(state[rawValue: "mood"] ?? "-")")
                    }
                }
            }
            await pubnub.connected { _ in subscription.subscribe() }
            let ben = gateway.client("ben")
            await ben.connected { $0.subscribe(to: ["room.1"]) }
            await calls.wait { Set($0).isSuperset(of: [#"join ["ben"] 2"#]) || $0.contains { $0.contains("ben") } }
            calls.update { $0 = [] }
            let state = try await outcome {
                ben.setPresence(state: ["mood": "fine"], on: ["room.1"], completion: $0)
            }
            #expect(state.codableValue[rawValue: "mood"] as? String == "fine")
            await calls.expect(["state ben fine"])
            ben.unsubscribe(from: ["room.1"])
            await calls.expect([#"leave ["ben"] 1"#])
        }
    }

    @Test("receive actions, edits and deletions of messages as actions")
    func actions() async throws {
        try await CompatGateway.run { pubnub, _ in
            let calls = Calls([])
            let subscription = pubnub.channel("room.1").subscription()
            subscription.onMessageAction = { event in
                switch event {
                case .added(let action):
                    calls.add("added \(action.actionType) \(action.actionValue) on \(action.channel)")
                case .removed(let action): calls.add("removed \(action.actionType) \(action.actionValue)")
                }
            }
            await pubnub.connected { _ in subscription.subscribe() }
            let message = try await send("hi", to: "room.1", pubnub)
            let mark = try await outcome {
                pubnub.addMessageAction(
                    channel: "room.1", type: "bookmark", value: "later", messageTimetoken: message, completion: $0)
            }
            #expect(mark.actionType == "bookmark" && mark.publisher == "ana" && mark.messageTimetoken == message)
            for (type, value) in [("reactions", "heart"), ("edited", "hello"), ("deleted", "deleted")] {
                let _: any PubNubMessageAction = try await outcome {
                    pubnub.addMessageAction(
                        channel: "room.1", type: type, value: value, messageTimetoken: message, completion: $0)
                }
            }
            await calls.expect([
                "added bookmark later on room.1", "added reactions heart on room.1", "added edited hello on room.1",
                "added deleted deleted on room.1",
            ])
        }
    }

    @Test("tell of files that another client announces")
    func files() async throws {
        try await CompatGateway.run { pubnub, gateway in
            let calls = Calls([])
            let subscription = pubnub.channel("room.1").subscription()
            subscription.onFileEvent = { event in
                if case .uploaded(let event) = event {
                    let message = event.additionalMessage?.stringOptional ?? "-"
                    calls.add("\(event.file.fileId) \(event.file.filename) \(message) by \(event.publisher)")
                }
            }
            await pubnub.connected { _ in subscription.subscribe() }
            let file = "%7B%22id%22:%22f1%22,%22name%22:%22a.png%22%7D"
            let announcement = "%7B%22message%22:%22look%22,%22file%22:\(file)%7D"
            try await gateway.call("GET", "/v1/files/publish-file/demo/demo/0/room.1/0/\(announcement)?uuid=ben")
            await calls.expect(["f1 a.png look by ben"])
        }
    }

    @Test("receive the changes of records, which can be applied to a record")
    func records() async throws {
        try await CompatGateway.run { pubnub, _ in
            let calls = Calls([])
            let set = pubnub.subscription(entities: [pubnub.userMetadata("cleo")])
            set.onAppContext = { event in
                switch event {
                case .userMetadataSet(let change):
                    let changed = change.apply(to: PubNubUserMetadataBase(metadataId: "cleo", name: "old"))
                    calls.add("user \(change.metadataId) \(changed.name ?? "-") \(change.changes.count)")
                case .userMetadataRemoved(let id): calls.add("user \(id) gone")
                case .channelMetadataSet(let change):
                    let changed = change.apply(to: PubNubChannelMetadataBase(metadataId: "crew"))
                    calls.add("channel \(changed.name ?? "-") \(changed.channelDescription ?? "-")")
                case .channelMetadataRemoved(metadataId: let id): calls.add("channel \(id) gone")
                case .membershipMetadataSet(let membership):
                    calls.add("member \(membership.userMetadataId) of \(membership.channelMetadataId)")
                case .membershipMetadataRemoved(let membership):
                    calls.add("no member \(membership.userMetadataId) of \(membership.channelMetadataId)")
                }
            }
            await pubnub.connected { _ in set.subscribe() }
            await pubnub.connected { _ in set.add(subscription: pubnub.channelMetadata("crew").subscription()) }
            for name in ["Cleo", "Cleopatra"] {
                let user = PubNubUserMetadataBase(metadataId: "cleo", name: name)
                let _: any PubNubUserMetadata = try await outcome { pubnub.setUserMetadata(user, completion: $0) }
            }
            await calls.expect(["user cleo Cleo 1", "user cleo Cleopatra 1"])
            let channel = PubNubChannelMetadataBase(metadataId: "crew", name: "Crew", channelDescription: "us")
            let _: any PubNubChannelMetadata = try await outcome { pubnub.setChannelMetadata(channel, completion: $0) }
            await calls.expect(["channel Crew us", "member ana of crew"])
            let _: PubNubMembershipPage = try await outcome {
                pubnub.removeMemberships(
                    userId: "ana",
                    channels: [PubNubMembershipMetadataBase(userMetadataId: "ana", channelMetadataId: "crew")],
                    completion: $0)
            }
            await calls.expect(["no member ana of crew"])
            let _: String = try await outcome { pubnub.removeUserMetadata("cleo", completion: $0) }
            await calls.expect(["user cleo gone"])
        }
    }

    @Test("start and end several subscriptions together, and clone them")
    func sets() async throws {
        try await CompatGateway.run { pubnub, _ in
            let _: (group: String, channels: [String]) = try await outcome {
                pubnub.add(channels: ["sport"], to: "news", completion: $0)
            }
            let calls = Calls([])
            let set = pubnub.subscription(
                entities: [pubnub.channel("weather.*")],
                options: FilterOption { if case .signalReceived = $0 { false } else { true } })
            set.onMessage = { calls.add("\($0.channel) by \($0.subscription ?? "its name")") }
            set.onSignal = { _ in calls.add("signal") }
            await pubnub.connected { _ in set.subscribe() }
            await pubnub.connected { _ in set.add(subscription: pubnub.channelGroup("news").subscription()) }
            await pubnub.connected { _ in set.add(subscription: pubnub.channel("scores").subscription()) }
            _ = try await send("x", to: "weather.eu", pubnub)
            _ = try await send("x", to: "sport", pubnub)
            let _: Timetoken = try await outcome { pubnub.signal(channel: "scores", message: 1, completion: $0) }
            _ = try await send("x", to: "scores", pubnub)
            let received = await calls.wait { $0.count >= 3 }
            #expect(Set(received) == ["weather.eu by weather.*", "sport by news", "scores by its name"])
            let clone = set.clone()
            #expect(clone.onMessage == nil && pubnub.subscriptionCount == 3)
            clone.unsubscribe()
            set.unsubscribe()
            #expect(pubnub.subscriptionCount == 0)
            set.dispose()
            #expect(set.isDisposed)
            set.subscribe()
            #expect(pubnub.subscriptionCount == 0)
        }
    }

    @Test("of the client receive each event once, although several subscriptions receive it")
    func once() async throws {
        try await CompatGateway.run { pubnub, _ in
            let calls = Calls([])
            pubnub.onMessage = { calls.add("client \($0.payload.stringOptional ?? "")") }
            let listener = EventListener(onMessage: { calls.add("listener \($0.payload.stringOptional ?? "")") })
            pubnub.addEventListener(listener)
            let first = pubnub.channel("room.1").subscription()
            let second = pubnub.channel("room.1").subscription()
            let pattern = pubnub.channel("room.*").subscription()
            await pubnub.connected { _ in first.subscribe() }
            second.subscribe()
            await pubnub.connected { _ in pattern.subscribe() }
            for text in ["a", "b"] { _ = try await send(text, to: "room.1", pubnub) }
            let received = await calls.wait { $0.count >= 4 }
            #expect(received.filter { $0.hasPrefix("client") } == ["client a", "client b"])
            #expect(received.filter { $0.hasPrefix("listener") } == ["listener a", "listener b"])
        }
    }

    @Test("of the older generation subscribe by name, with one listener")
    func older() async throws {
        try await CompatGateway.run { pubnub, _ in
            let calls = Calls([])
            let listener = SubscriptionListener()
            listener.didReceiveSubscription = { event in
                switch event {
                case .messageReceived(let message): calls.add("message \(message.payload.stringOptional ?? "")")
                case .connectionStatusChanged(let status): calls.add("\(status)")
                case .subscriptionChanged(.subscribed(let channels, _)): calls.add("subscribed \(channels.map(\.id))")
                case .subscriptionChanged(.unsubscribed(let channels, _)):
                    calls.add("unsubscribed \(channels.map(\.id))")
                case .subscribeError(let error): calls.add("error \(error.reason)")
                default: break
                }
            }
            pubnub.add(listener)
            pubnub.subscribe(to: ["my_channel"], withPresence: true)
            await calls.expect([#"subscribed ["my_channel"]"#, "connected"])
            #expect(pubnub.subscribedChannels == ["my_channel"])
            _ = try await send("a", to: "my_channel", pubnub)
            await calls.expect(["message a"])
            pubnub.disconnect()
            await calls.expect(["disconnected"])
            _ = try await send("b", to: "my_channel", pubnub)
            pubnub.reconnect()
            let received = await calls.wait { $0.contains("message b") }
            #expect(received.contains("connected"))
            calls.update { $0 = [] }
            pubnub.unsubscribeAll()
            await calls.expect([#"unsubscribed ["my_channel"]"#, "disconnected"])
            listener.cancel()
            #expect(listener.isCancelled)
        }
    }

    @Test("filter by members of the metadata, as PubNub's filters do")
    func filter() async throws {
        try await CompatGateway.run { pubnub, gateway in
            let calls = Calls([])
            pubnub.subscribeFilterExpression = "lang == 'en' && uuid != 'bot'"
            let subscription = pubnub.channel("room.1").subscription()
            subscription.onMessage = { calls.add($0.payload.stringOptional ?? "") }
            subscription.onMessageAction = { _ in calls.add("action") }
            await pubnub.connected { _ in subscription.subscribe() }
            var last: Timetoken = 0
            for (text, lang, user) in [("no", "de", "ana"), ("bot", "en", "bot"), ("yes", "en", "ana")] {
                last = try await outcome {
                    gateway.client(user).publish(
                        channel: "room.1", message: text, meta: ["lang": lang], completion: $0)
                }
            }
            let _: any PubNubMessageAction = try await outcome {
                pubnub.addMessageAction(
                    channel: "room.1", type: "mark", value: "x", messageTimetoken: last, completion: $0)
            }
            await calls.expect(["yes", "action"])
        }
    }

    @Test("say when a subscription cannot be connected")
    func refused() async throws {
        try await CompatGateway.run { _, gateway in
            let pubnub = gateway.client("ana", key: "wrong")
            let calls = Calls([])
            pubnub.onConnectionStateChange = { status in
                if case .connectionError(let error) = status { calls.add("\(error.reason)") }
            }
            pubnub.subscribe(to: ["room.1"])
            await calls.expect(["unauthorized"])
        }
    }
}
