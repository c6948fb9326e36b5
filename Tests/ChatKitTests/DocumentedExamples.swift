import ChatKit
import ChatKitInProcess
import ChatRemote
import Dispatch
import SQLiteEngine

// The examples of the guide and of the articles, so that they are compiled. A test compares the texts with this file.

func exampleInProcess() async throws {
    let chat = try await Chat(engine: SQLiteEngine(path: "chat.db"), app: "default", user: "ana")
    try await chat.channel("room.1").sendText("hello")
    await chat.close()
}

func exampleOnGateway() async throws {
    let chat = try await Chat(url: "https://chat.example.com", key: "parley_…", user: "ana")
    await chat.close()
}

protocol Session: Sendable {
    func chatToken() async throws -> String
}

func exampleTokens(_ session: any Session) async throws {
    let chat = try await Chat(url: "https://chat.example.com", user: "ana", token: { try await session.chatToken() })
    await chat.close()
}

func exampleReady(_ listener: AutoCloseable, _ room: Channel) async throws {
    try await listener.ready()
    var messages = room.stream.messageReceived().makeAsyncIterator()
    try await messages.open(within: .seconds(10))
    print(await messages.next()?.text ?? "")
}

func exampleCustomEvents(_ chat: Chat) async throws {
    let support = chat.channel("support.42")
    let listener = support.onCustomEvent(messageType: "customer-satisfaction") { event in
        print(event.userId, event.payload["stars"]?.rawValue ?? "no answer")
    }
    try await support.emitCustomEvent(payload: ["chatID": "42", "stars": 5], messageType: "customer-satisfaction")
    listener.close()

    for await event in support.stream.customEvents(messageType: "customer-satisfaction") {
        print(event.timetoken, event.payload)
    }

    let (events, isMore) = try await chat.getEventsHistory(channelId: "support.42", count: 10)
    for event in events.map(\.event) {
        if let custom = event.payload as? CustomEvent { print(event.timetoken, custom.type ?? "-") }
    }
    print(isMore ? "there are older ones" : "that is all")
}

func exampleOwnContent(_ chat: Chat, _ support: Channel) async throws {
    struct Rating: EventContent, JSONCodable, Codable { var stars: Int }
    try await support.emitCustomEvent(payload: ["stars": 5], messageType: "rating")
    let (ratings, more) = try await chat.getEventsHistory(of: Rating.self, channelId: "support.42")
    print(ratings.map(\.event.payload.stars), more)
}

func exampleSubscription(_ chat: Chat) async throws {
    let subscription = chat.subscription(channels: ["orders.*"], filter: "data.amount > 1000")
    subscription.onMessage = { print($0.channel.name, $0.publisher ?? "", $0.payload.text) }
    subscription.subscribe()
    try await subscription.ready()
}

func exampleSubscriptionSet(_ chat: Chat) {
    let set = chat.subscription(queue: .main, entities: [chat.channel("a"), chat.channelGroup("news")], presence: true)
    set.onEvent = { event in
        switch event {
        case .messageReceived(let message): print(message.payload.text, message.subscription ?? "")
        case .presenceChanged(let change): print(change.actions, change.occupancy)
        case .appContextChanged(.channelSet(let change)): print(change.record.name ?? "", change.changes)
        default: break
        }
    }
    set.subscribe()
}

func examplePayloads(_ chat: Chat) async throws {
    struct Order: Codable, JSONCodable {
        let amount: Int
        let items: [String]
    }
    try await chat.channel("orders.eu").publish(Order(amount: 4200, items: ["tea"]))
    for await event in chat.channel("orders.eu").subscription() {
        let order: Order = try event.payload.decode()
        print(order.amount)
    }
}

func exampleOptions() async throws {
    let chat = try await Chat(
        url: "https://chat.example.com", key: "parley_…", user: "ana",
        retry: RetryPolicy(.exponential(first: .milliseconds(500), most: .seconds(60)), limit: 10))
    try await chat.channel("a").publish("now or never", options: RequestOptions(timeout: .seconds(2), retries: 0))
}

func exampleChannels(_ chat: Chat) async throws {
    let crew = try await chat.createChannel(id: "crew", name: "The crew", type: .group)
    if let ben = try await chat.getUser(userId: "ben") { try await crew.invite(ben) }
    for member in try await crew.getMembers().members { print(member.userId, member.state) }
}

func exampleMessages(_ chat: Chat) async throws {
    let room = chat.channel("room.1")
    let question = try await room.sendText("lunch?", usersToMention: ["ben"])
    if let message = try await room.getMessage(timetoken: question) {
        try await message.toggleReaction("wave")
        try await message.createThread().sendText("at noon")
    }
}

func examplePresence(_ room: Channel) async throws {
    try await room.appear(state: ["mood": "fine"])
    let presence = room.onPresenceChanged { print("here:", $0) }
    let typing = room.onTypingChanged { print("typing:", $0) }
    try await room.startTyping()
    print(try await room.whoIsPresent().userIds)
    for listener in [presence, typing] { listener.close() }
}

func exampleReading(_ chat: Chat, _ crew: Channel) async throws {
    if let membership = try await crew.getMembership(userId: chat.userId) {
        print(try await membership.getUnreadMessagesCount())
    }
    try await crew.markAsRead()
    print(try await chat.getTotalUnreadMessageCount().total)
}

func exampleModeration(_ crew: Channel, _ ben: User) async throws {
    try await crew.setRestrictions(user: ben, mute: true, reason: "spam")
    for muted in try await crew.getUsersRestrictions().restrictions { print(muted.userId, muted.reason ?? "") }
    try await crew.setRestrictions(user: ben)
    try await crew.freeze()
}

func exampleUpdating(_ crew: Channel) async throws {
    let counted = try await crew.update { now, fields in
        fields.custom = AnyJSON(now.custom.merging(["seen": true]) { $1 })
    }
    print(counted.custom)
}

func exampleValues(_ chat: Chat, _ crew: Channel) async throws {
    try await crew.createMetaData(["topic": "tea"])
    try await crew.createMetaCounters(["likes": 0])
    print(try await crew.increaseMetaCounters(["likes": 1]))
    try await chat.channelGroup("news").addChannels([chat.channel("sport"), chat.channel("weather")])
    let news = chat.subscription(groups: ["news"])
    news.subscribe()
}

func exampleDelegate(_ chat: Chat) {
    final class Screen: ChannelDelegate {
        func channel(_ channel: Channel, didReceive message: Message) { print(channel.id, message.text) }
    }
    let screen = Screen()
    chat.addChannelDelegate(screen, identifier: "screen")
    chat.removeChannelDelegate(forIdentifier: "screen")
}
