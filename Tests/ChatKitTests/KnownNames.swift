import ChatKit
import ChatRemote
import SQLiteEngine

// Every call that the guide's table names, used once, so that the table cannot promise what is not there. Never run.

func knownChats() async throws -> Chat {
    _ = try await Chat(url: "http://127.0.0.1:8080", key: "dev", user: "ana")
    let chat = try await Chat(engine: SQLiteEngine(path: ":memory:"), app: "default", user: "ana")
    _ = chat.currentUser
    _ = try await chat.getUser(userId: "ben")
    _ = try await chat.getUsers(filter: "name LIKE 'B*'", sort: ["name:asc"], limit: 10, page: nil)
    _ = try await chat.createUser(id: "ben", name: "Ben")
    _ = try await chat.getChannel(channelId: "room.1")
    _ = try await chat.getChannels(filter: nil, sort: [], limit: 10, page: nil)
    _ = chat.channel("room.1")
    _ = try await chat.createChannel(id: "room.1", name: "Room", type: .public)
    _ = try await chat.createDirectConversation(invitedUser: chat.currentUser)
    _ = try await chat.createGroupConversation(invitedUsers: [chat.currentUser])
    _ = try await chat.getEventsHistory(channelId: "room.1", startTimetoken: 2, endTimetoken: 1, count: 10)
    _ = chat.onConnectionStateChange { print($0) }
    return chat
}

func knownChannel(_ chat: Chat, _ channel: Channel, _ user: User) async throws {
    _ = try await channel.emitCustomEvent(payload: ["a": 1], messageType: "order.paid", storeInHistory: true)
    _ = channel.onCustomEvent(messageType: "order.paid") { print($0) }
    _ = channel.stream.customEvents(messageType: "order.paid")
    _ = try await channel.sendText("hi", meta: ["a": 1], usersToMention: ["ben"], quoting: nil)
    _ = try await channel.getHistory(startTimetoken: 2, endTimetoken: 1, count: 10)
    _ = try await channel.getMessage(timetoken: 1)
    _ = try await channel.join()
    try await channel.leave()
    _ = try await channel.invite(user)
    _ = try await channel.inviteMultiple([user])
    try await channel.declineInvite()
    _ = try await channel.getMembers(limit: 10, page: nil, filter: nil, sort: [])
    _ = try await channel.update(name: "Room")
    try await channel.delete()
    _ = try await channel.getMessageReportsHistory(startTimetoken: 2, endTimetoken: 1, count: 10)
    _ = channel.onUpdated { print($0) }
    _ = channel.onDeleted {}
    _ = channel.onMessageReceived { print($0) }
    _ = channel.onTypingChanged { print($0) }
    _ = channel.onReadReceiptReceived { print($0) }
    _ = channel.onMessageReported { print($0) }
    _ = try await channel.publish("hi", meta: nil, customMessageType: nil, shouldStore: true, storeTTL: 1)
    _ = try await channel.fire("hi", meta: nil)
    _ = try await channel.signal("hi", customMessageType: nil)
}

func knownOthers(_ user: User, _ membership: Membership, _ message: Message) async throws {
    _ = try await user.update(name: "Ben")
    try await user.delete()
    _ = user.onInvited { print($0) }
    _ = user.onMentioned { print($0) }
    _ = user.onRestrictionChanged { print($0) }
    _ = user.onUpdated { print($0) }
    _ = try await membership.update(custom: ["a": 1])
    _ = membership.onUpdated { print($0) }
    _ = try await message.editText("hello")
    try await message.delete(soft: true)
    _ = try await message.toggleReaction("wave")
    try await message.pin()
    _ = try await message.forward(to: "room.2")
    try await message.report(reason: "spam")
    _ = message.createThread()
    _ = message.onUpdated { print($0) }
}

func knownSubscriptions(_ chat: Chat) {
    let subscription = chat.subscription(channels: ["a"], groups: ["g"], presence: true, filter: nil, since: nil)
    subscription.onEvent = { print($0) }
    subscription.onMessage = { print($0) }
    subscription.onSignal = { print($0) }
    subscription.onPresence = { print($0) }
    subscription.onMessageAction = { print($0) }
    subscription.onAppContext = { print($0) }
    subscription.onFileEvent = { print($0) }
    subscription.subscribe(with: 1)
    subscription.unsubscribe()
    let set = SubscriptionSet([subscription])
    set.add(subscription.clone())
    set.remove(subscription)
    chat.unsubscribeAll()
}

func knownDelegates(_ chat: Chat, _ channel: any ChannelDelegate, _ user: any UserEventDelegate) {
    chat.addChannelDelegate(channel, identifier: "a")
    chat.removeChannelDelegate(forIdentifier: "a")
    chat.addUserEventDelegate(user, identifier: "a")
    chat.removeUserEventDelegate(forIdentifier: "a")
}

func knownConnection(_ chat: Chat, _ delegate: any ConnectionDelegate) {
    chat.addConnectionDelegate(delegate, identifier: "a")
    chat.removeConnectionDelegate(forIdentifier: "a")
}

@available(*, deprecated)
func knownFromBefore(_ chat: Chat, _ channel: Channel) async throws {
    _ = try await chat.emitEvent(channelId: "a", payload: Custom(data: ["a": 1]), mergePayloadWith: ["b": 2])
    _ = chat.listenForEvents(type: Custom.self, channelId: "a", customMethod: .publish) { print($0) }
    _ = channel.streamUpdates { print($0 as Any) }
    _ = Channel.streamUpdatesOn(channels: [channel]) { print($0) }
    _ = channel.connect { print($0) }
    _ = channel.getTyping { print($0) }
    _ = channel.streamReadReceipts { print($0) }
    _ = channel.streamMessageReports { print($0) }
}
