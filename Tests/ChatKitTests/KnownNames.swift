import ChatKit
import ChatKitInProcess
import ChatRemote
import SQLiteEngine

// Every call in the guide's table, used once, so that the table lists only calls that exist. Never run.

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
    _ = try await chat.getEventsCount(channelId: "room.1", types: ["order.*"], startTimetoken: 2, endTimetoken: 1)
    _ = chat.onConnectionStateChange { print($0) }
    _ = chat.user("ben")
    try await chat.blockUser(chat.user("ben"))
    try await chat.unblockUser(chat.user("ben"))
    _ = try await chat.getBlockedUsers(limit: 10, page: nil)
    _ = try await chat.markAllMessagesAsRead()
    _ = try await chat.getTotalUnreadMessageCount()
    _ = chat.channelGroup("news")
    _ = try await chat.getChannelGroups(limit: 10, page: nil)
    try await chat.removeChannelGroup(id: "news")
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
    try await channel.hide(hidePreviousMessages: true, allowAutoUnhide: false)
    try await channel.unhide()
    try await channel.markAsRead()
    try await channel.markAsDelivered(timetoken: 1)
    _ = try await channel.getPinnedMessage()
    _ = try await channel.getMembership(userId: "ben")
    _ = try await channel.getMembers(limit: 10, page: nil, filter: nil, sort: [])
    _ = try await channel.update(name: "Room")
    _ = try await channel.update { _, fields in fields.name = "Room" }
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

func knownRights(_ channel: Channel, _ user: User, _ group: ChannelGroup) async throws {
    try await channel.setRestrictions(user: user, ban: true, mute: false, reason: "spam", until: nil)
    _ = try await channel.getUserRestrictions(user: user)
    _ = try await channel.getUsersRestrictions(limit: 10, page: nil)
    try await channel.freeze()
    try await channel.unfreeze()
    try await channel.addOperator(user)
    try await channel.removeOperator(user)
    try await user.setRestrictions(channel: channel, mute: true)
    _ = try await user.getChannelRestrictions(channel: channel)
    _ = try await user.getChannelsRestrictions(limit: 10, page: nil)
    _ = try await group.listChannels()
    try await group.addChannels([channel])
    try await group.removeChannels([channel])
}

func knownAttendance(_ channel: Channel, _ user: User) async throws {
    try await channel.startTyping()
    try await channel.stopTyping()
    try await channel.appear(state: ["mood": "fine"], for: 60)
    try await channel.disappear()
    _ = try await channel.whoIsPresent(limit: 10, page: nil)
    _ = try await channel.isPresent(userId: "ben")
    try await channel.setState(["mood": "fine"])
    _ = try await channel.getState(userId: "ben")
    _ = channel.onPresenceChanged { print($0) }
    _ = try await user.wherePresent()
    _ = try await user.isPresentOn(channelId: "room.1")
    _ = try await channel.enter()
    try await channel.exit()
    _ = try await channel.getParticipants(limit: 10, page: nil)
}

func knownValues(_ channel: Channel) async throws {
    _ = try await channel.getMetaData()
    _ = try await channel.createMetaData(["topic": "tea"])
    _ = try await channel.updateMetaData(["topic": "tea"], upsert: true)
    try await channel.deleteMetaData(key: "topic")
    try await channel.deleteAllMetaData()
    _ = try await channel.getMetaCounters()
    _ = try await channel.createMetaCounters(["likes": 1])
    _ = try await channel.updateMetaCounters(["likes": 1], upsert: true)
    _ = try await channel.increaseMetaCounters(["likes": 1])
    _ = try await channel.decreaseMetaCounters(["likes": 1])
    try await channel.deleteMetaCounter(key: "likes")
    try await channel.deleteAllMetaCounters()
}

func knownOthers(_ user: User, _ membership: Membership, _ message: Message) async throws {
    _ = try await user.update(name: "Ben")
    try await user.delete()
    _ = user.onInvited { print($0) }
    _ = user.onMentioned { print($0) }
    _ = user.onRestrictionChanged { print($0) }
    _ = user.onUpdated { print($0) }
    _ = try await membership.update(custom: ["a": 1])
    _ = try await membership.setLastReadMessage(message)
    _ = try await membership.setLastReadMessageTimetoken(1)
    _ = try await membership.getUnreadMessagesCount()
    try await membership.delete(reason: "spam")
    _ = membership.onUpdated { print($0) }
    _ = try await message.editText("hello")
    _ = try await message.edit(content: ["text": "hello"])
    _ = try await user.update { _, fields in fields.name = "Ben" }
    _ = try await membership.update { _, fields in fields.status = "away" }
    try await message.delete(soft: true)
    _ = try await message.toggleReaction("wave")
    try await message.pin()
    try await message.unpin()
    _ = try await message.restore()
    _ = try await message.hasUserReaction("wave")
    _ = try await message.getReactions()
    let action = try await message.addAction(type: "task", value: "done")
    try await message.removeAction(action)
    _ = try await message.getActions()
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
    subscription.onEvents = { print($0) }
    subscription.onError = { print($0) }
    subscription.onSubscriptionChange = { print($0) }
    subscription.filter = "data.amount > 1"
    let set = SubscriptionSet(subscriptions: [subscription])
    set.add(subscription: subscription.clone())
    set.remove(subscription: subscription)
    _ = chat.subscription(entities: [chat.channel("a"), chat.channelGroup("g"), chat.user("ana")])
    let channel = chat.channel("a")
    _ = [channel.subscription(), chat.channelGroup("g").subscription(), chat.user("ana").subscription()]
    let listener = SubscriptionListener()
    listener.didReceiveMessage = { print($0) }
    subscription.add(listener)
    listener.cancel()
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
    _ = channel.streamPresence { print($0) }
    _ = channel.streamReadReceipts { print($0) }
    _ = channel.streamMessageReports { print($0) }
    chat.add(SubscriptionListener())
    chat.subscribe(to: ["a"], and: ["g"], at: nil, withPresence: true, filterOverride: nil)
    chat.unsubscribe(from: ["a"], and: ["g"], presenceOnly: true)
    _ = chat.streamReadReceipts { print($0) }
}

@available(*, deprecated)
func knownUpdatesFromBefore(_ user: User, _ membership: Membership, _ message: Message) {
    _ = user.streamUpdates { print($0 as Any) }
    _ = User.streamUpdatesOn(users: [user]) { print($0) }
    _ = membership.streamUpdates { print($0 as Any) }
    _ = Membership.streamUpdatesOn(memberships: [membership]) { print($0) }
    _ = message.streamUpdates { print($0) }
    _ = Message.streamUpdatesOn(messages: [message]) { print($0) }
}
