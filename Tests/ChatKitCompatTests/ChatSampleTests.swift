import ChatKitCompat
import TestSupport
import Testing

@Suite("The samples of the Chat SDK", .timeLimit(.minutes(3))) struct ChatSampleTests {
    @Test("write, edit, react and reply, with closures")
    func messages() async throws {
        try await CompatGateway.run { _, gateway in
            let chat = try await gateway.chat("ana")
            let channel: ChannelImpl = try await outcome {
                chat.createPublicConversation(channelId: "room.1", channelName: "Room", completion: $0)
            }
            let calls = Calls([])
            let closeable = channel.onMessageReceived { message in
                calls.add("\(message.userId): \(message.text) \(message.meta?["lang"]?.stringOptional ?? "-")")
            }
            try await closeable.ready()
            channel.sendText(text: "Hello", params: SendTextParams(meta: ["lang": "en"])) { result in
                switch result {
                case .success(let timetoken): calls.add("sent \(timetoken > 17_000_000_000_000_000)")
                case .failure(let error): calls.add("failed \(error)")
                }
            }
            let received = await calls.wait { $0.count >= 2 }
            #expect(Set(received) == ["ana: Hello en", "sent true"])
            closeable.close()

            let history = try await outcome { channel.getHistory(count: 10, completion: $0) }
            let message = try #require(history.messages.first)
            #expect(history.messages.count == 1 && !history.isMore && !message.hasThread)
            let changes = Calls([])
            let updates = message.onUpdated { message in
                changes.add("\(message.text) \(message.reactions.map { "\($0.value)\($0.count)\($0.isMine)" })")
            }
            try await updates.ready()
            let edited: MessageImpl = try await outcome { message.editText(newText: "Hi", completion: $0) }
            #expect(edited.text == "Hi" && edited.timetoken == message.timetoken)
            let liked: MessageImpl = try await outcome { edited.toggleReaction(reaction: "👍", completion: $0) }
            #expect(liked.hasUserReaction(reaction: "👍") && !liked.hasUserReaction(reaction: "👎"))
            #expect(liked.reactions.map(\.userIds) == [["ana"]])
            #expect(liked.actions?["reactions"]?["👍"]?.map(\.uuid) == ["ana"])
            await changes.expect([#"Hi []"#, #"Hi ["👍1true"]"#])

            let noThread = await #expect(throws: PubNubError.self) {
                let _: ThreadChannelImpl = try await outcome { message.getThread(completion: $0) }
            }
            #expect(noThread?.reason == .resourceNotFound)
            let made: CreateThreadResult = try await outcome {
                message.createThread(text: "First", params: SendTextParams(), completion: $0)
            }
            #expect(made.parentMessage.hasThread && made.threadChannel.parentChannelId == "room.1")
            let _: Timetoken = try await outcome { made.threadChannel.sendText(text: "Second", completion: $0) }
            let thread: ThreadChannelImpl = try await outcome { message.getThread(completion: $0) }
            #expect(thread.id == "PUBNUB_INTERNAL_THREAD_room.1_\(message.timetoken)")
            let replies = try await outcome { thread.getHistory(count: 1, completion: $0) }
            #expect(replies.messages.map(\.text) == ["Second"] && replies.isMore)
            let older = try await thread.getHistory(startTimetoken: replies.messages[0].timetoken)
            #expect(older.messages.map(\.text) == ["First"] && !older.isMore)
            #expect(try await channel.getHistory(count: 1).messages.map(\.text) == ["Hi"])
            #expect(try await !channel.getHistory(count: 2).isMore)
            let pinned: ChannelImpl = try await outcome {
                thread.pinMessageToParentChannel(message: older.messages[0], completion: $0)
            }
            #expect(try await pinned.getPinnedMessage()?.text == "First")
            _ = try await thread.unpinMessageFromParentChannel()
            #expect(try await channel.getPinnedMessage() == nil)

            let _: Void = try await outcome { message.removeThread(completion: $0) }
            #expect(try await channel.getMessage(timetoken: message.timetoken)?.hasThread == false)
            try await chat.mutedUsersManager.muteUser(userId: "ana")
            #expect(try await channel.getHistory().messages.isEmpty)
            try await chat.mutedUsersManager.unmuteUser(userId: "ana")
            let marked: MessageImpl? = try await outcome { message.delete(soft: true, completion: $0) }
            #expect(marked?.deleted == true)
            let restored: MessageImpl = try await outcome { message.restore(completion: $0) }
            #expect(restored.text == "Hi" && !restored.deleted)
            let gone: MessageImpl? = try await outcome { message.delete(completion: $0) }
            #expect(gone == nil)
            #expect(try await channel.getMessage(timetoken: message.timetoken) == nil)
        }
    }

    @Test("show who types, is present, has read, and is restricted")
    func listeners() async throws {
        try await CompatGateway.run { _, gateway in
            let (ana, ben) = (try await gateway.chat("ana"), try await gateway.chat("ben"))
            let group: CreateGroupConversationResult = try await outcome {
                ana.createGroupConversation(
                    invitedUsers: [ben.currentUser], channelId: "crew", channelName: "Crew",
                    membershipCustom: ["color": "red"], completion: $0)
            }
            #expect(group.hostMembership.custom?["color"]?.stringOptional == "red")
            #expect(group.inviteeMemberships.map(\.user.id) == ["ben"])
            #expect(group.inviteeMemberships.map(\.status) == ["pending"])
            let crew = try #require(try await outcome { ben.getChannel(channelId: "crew", completion: $0) })
            #expect(crew.name == "Crew" && crew.type == .group)
            let membership = try await crew.join()
            #expect(membership.channel.id == "crew" && membership.user.id == "ben")

            let calls = Calls([])
            let listeners = [
                crew.onTypingChanged { calls.add("typing \($0)") },
                crew.onReadReceiptReceived { calls.add("read \($0.userId)") },
                ben.currentUser.onRestrictionChanged { calls.add("restricted \($0.mute) \($0.reason ?? "-")") },
                ben.currentUser.onMentioned { calls.add("mentioned \($0.channelId) \($0.mentionedByUserId)") },
                ben.currentUser.onInvited { calls.add("invited \($0.channelId) \($0.channelType)") },
            ]
            for listener in listeners { try await listener.ready() }
            let _: Timetoken? = try await outcome { group.channel.startTyping(completion: $0) }
            await calls.expect([#"typing ["ana"]"#])
            let _: Timetoken? = try await outcome { group.channel.stopTyping(completion: $0) }
            await calls.expect(["typing []"])
            let sent: Timetoken = try await outcome {
                group.channel.sendText(text: "Ben?", usersToMention: ["ben"], completion: $0)
            }
            await calls.expect(["mentioned crew ana"])
            let counts = try await outcome { ben.fetchUnreadMessagesCounts(completion: $0) }
            #expect(counts.countsByChannel.map(\.count) == [1])
            let marked: MembershipImpl = try await outcome {
                membership.setLastReadMessageTimetoken(sent, completion: $0)
            }
            #expect(marked.lastReadMessageTimetoken == sent)
            await calls.expect(["read ben"])
            #expect(try await marked.getUnreadMessagesCount() == 0)
            let receipts = try await group.channel.fetchReadReceipts().receipts
            #expect(receipts.map { "\($0.userId) \($0.lastReadTimetoken)" } == ["ben \(sent)"])
            let mentions = try await outcome { ben.getCurrentUserMentions(completion: $0) }
            #expect(mentions.mentions.map(\.userMentionData.message?.text) == ["Ben?"])

            let _: Void = try await outcome {
                group.channel.setRestrictions(user: ben.currentUser, mute: true, reason: "spam", completion: $0)
            }
            await calls.expect(["restricted true spam"])
            let muted = await #expect(throws: PubNubError.self) { try await crew.sendText(text: "no") }
            #expect(muted?.reason == .forbidden)
            #expect(try await group.channel.getUserRestrictions(user: ben.currentUser).mute)
            #expect(try await group.channel.getUsersRestrictions().restrictions.map(\.userId) == ["ben"])
            try await group.channel.setRestrictions(user: ben.currentUser)
            await calls.expect(["restricted false request"])
            let direct = try await ana.createDirectConversation(invitedUser: ben.currentUser)
            await calls.expect(["invited \(direct.channel.id) direct"])
            #expect(direct.inviteeMembership.user.id == "ben" && direct.channel.type == .direct)
            for listener in listeners { listener.close() }
        }
    }

    @Test("read and change users, channels, memberships and groups")
    func records() async throws {
        try await CompatGateway.run { _, gateway in
            let chat = try await gateway.chat("ana")
            let user: UserImpl = try await outcome {
                chat.createUser(id: "ben", name: "Ben", custom: ["age": 30], completion: $0)
            }
            #expect(user.custom?["age"]?.intOptional == 30 && user.updated != nil && !user.active)
            let changed: UserImpl = try await outcome {
                user.update(
                    updateAction: { now in
                        [.stringOptional(\.email, "ben@example.com"), .stringOptional(\.name, (now.name ?? "") + "!")]
                    }, completion: $0)
            }
            #expect(changed.name == "Ben!" && changed.email == "ben@example.com")
            let ben = try await gateway.chat("ben", ChatConfiguration(storeUserActivityTimestamps: true))
            #expect(ben.currentUser.active && ben.currentUser.custom?["age"]?.intOptional == 30)
            #expect(try await chat.getUser(userId: "ben")?.active == true)
            let found = try await outcome { chat.getUserSuggestions(text: "@Be", completion: $0) }
            #expect(found.map(\.id) == ["ben"])
            let page = try await chat.getUsers(sort: [.init(property: .id, ascending: false)], limit: 1)
            #expect(page.users.map(\.id) == ["ben"])
            let next = try await chat.getUsers(
                sort: [.init(property: .id, ascending: false)], limit: 1, page: page.page)
            #expect(next.users.map(\.id) == ["ana"])

            for (id, name) in [("Zoo", "Animals"), ("Alps", "Mountains"), ("Lake", "Boats")] {
                _ = try await chat.createPublicConversation(channelId: id, channelName: name)
            }
            let channel: ChannelImpl = try await outcome {
                chat.updateChannel(id: "Zoo", description: "animals", completion: $0)
            }
            #expect(channel.channelDescription == "animals" && channel.name == "Animals")
            let kind = await #expect(throws: PubNubError.self) { try await channel.update(type: .group) }
            #expect(kind?.reason == .invalidArguments)
            #expect(try await chat.getChannelSuggestions(text: "#Mou").map(\.id) == ["Alps"])
            let invited = try await channel.inviteMultiple(users: [user])
            #expect(invited.map(\.user.name) == ["Ben!"])
            #expect(try await channel.getInvitees().memberships.map(\.user.id) == ["ben"])
            #expect(try await channel.hasMember(userId: "ben"))
            let own = try await outcome { chat.currentUser.getMemberships(completion: $0) }
            #expect(own.memberships.map(\.channel.id) == ["Alps", "Lake", "Zoo"])
            let byName: [PubNub.MembershipSortField] = [.init(property: .object(.name), ascending: false)]
            let first = try await chat.currentUser.getMemberships(limit: 2, sort: byName)
            let rest = try await chat.currentUser.getMemberships(limit: 2, page: first.page, sort: byName)
            #expect((first.memberships + rest.memberships).map(\.channel.name) == ["Mountains", "Boats", "Animals"])
            #expect(try await channel.getUserSuggestions(text: "Be").map(\.user.id) == ["ben"])
            let members = try await channel.getMembers(sort: [.init(property: .object(.name))])
            #expect(members.memberships.map(\.user.id) == ["ana", "ben"])
            let membership = try #require(try await channel.getMember(userId: "ana"))
            let labelled = try await membership.update(custom: ["label": "x"], status: "busy")
            #expect(labelled.status == "busy" && labelled.custom?["label"]?.stringOptional == "x")
            #expect(try await chat.currentUser.isMemberOf(channelId: "Zoo"))
            try await channel.leave()
            #expect(try await chat.currentUser.getMembership(channelId: "Zoo") == nil)

            let group = chat.getChannelGroup(id: "all")
            let _: Void = try await outcome { group.add(channels: [channel], completion: $0) }
            #expect(try await group.listChannels().channels.map(\.id) == ["Zoo"])
            try await group.addChannelIdentifiers(["Lake"])
            let one = try await group.listChannels(limit: 1)
            let other = try await group.listChannels(limit: 1, page: one.page)
            #expect((one.channels + other.channels).map(\.id) == ["Zoo", "Lake"] && other.page == nil)
            let calls = Calls([])
            let listener = group.onMessageReceived { calls.add("\($0.channelId) \($0.text)") }
            try await listener.ready()
            let alps = try #require(try await chat.getChannel(channelId: "Alps"))
            let original = try #require(
                try await alps.getMessage(timetoken: alps.sendText(text: "snow")))
            let _: Timetoken = try await outcome { channel.forward(message: original, completion: $0) }
            await calls.expect(["Zoo snow"])
            try await chat.removeChannelGroup(id: "all")
            let _: Void = try await outcome { chat.deleteUser(id: "ben", completion: $0) }
            #expect(try await chat.getUser(userId: "ben") == nil)
            let _: Void = try await outcome { channel.delete(completion: $0) }
            #expect(try await chat.getChannel(channelId: "Zoo") == nil)
        }
    }

    @Test("send and receive events of both generations")
    @available(*, deprecated, message: "the samples are of the older generation")
    func events() async throws {
        try await CompatGateway.run { _, gateway in
            let (chat, ben) = (try await gateway.chat("ana"), try await gateway.chat("ben"))
            let channel = try await chat.createPublicConversation(channelId: "support")
            let calls = Calls([])
            let listeners = [
                channel.onCustomEvent(messageType: "rating") { event in
                    calls.add("rating \(event.payload["stars"]?.intOptional ?? 0)")
                },
                chat.listenForEvents(type: EventContent.Custom.self, channelId: "support") { wrapper in
                    calls.add("custom \(wrapper.event.payload.data.count) \(wrapper.event.userId)")
                },
                chat.listenForEvents(type: EventContent.Typing.self, channelId: "support") { wrapper in
                    calls.add("typing \(wrapper.event.payload.value)")
                },
                channel.onMessageReported { calls.add("report \($0.reason)") },
                chat.listenForEvents(type: EventContent.Moderation.self, channelId: "ben") { wrapper in
                    let content = wrapper.event.payload
                    calls.add("\(content.restriction) in \(content.channelId): \(content.reason ?? "-")")
                },
            ]
            for listener in listeners { try await listener.ready() }
            let _: Timetoken = try await outcome {
                channel.emitCustomEvent(payload: ["stars": 5], messageType: "rating", completion: $0)
            }
            await calls.expect(["rating 5"])
            let _: Timetoken = try await outcome {
                ben.emitEvent(
                    channelId: "support", payload: EventContent.Custom(data: ["a": 1]), mergePayloadWith: ["b": 2],
                    completion: $0)
            }
            await calls.expect(["custom 2 ben"])
            try await chat.emitEvent(channelId: "support", payload: EventContent.Typing(value: true))
            await calls.expect(["typing true"])
            let moderation = EventContent.Moderation(
                channelId: "PUBNUB_INTERNAL_MODERATION_support", restriction: .mute, reason: "spam")
            try await chat.emitEvent(channelId: "ben", payload: moderation)
            await calls.expect(["mute in support: spam"])
            #expect(try await !channel.getUserRestrictions(user: ben.currentUser).mute)
            let sent = try await channel.sendText(text: "bad")
            let message = try #require(try await channel.getMessage(timetoken: sent))
            let _: Timetoken = try await outcome { message.report(reason: "rude", completion: $0) }
            await calls.expect(["report rude"])
            let reports = try await outcome { channel.getMessageReportsHistory(completion: $0) }
            #expect(reports.events.map { ($0.event.payload as? EventContent.Report)?.text } == ["bad"])
            let history = try await outcome { chat.getEventsHistory(channelId: "support", completion: $0) }
            let kinds = history.events.map { wrapper in
                switch wrapper.event.payload {
                case is EventContent.TextMessageContent: "text"
                case is EventContent.Custom: "custom"
                default: "other"
                }
            }
            #expect(kinds == ["custom", "custom", "text"])
            for listener in listeners { listener.close() }
        }
    }

    @Test("write a draft with mentions, links and suggestions")
    func drafts() async throws {
        try await CompatGateway.run { _, gateway in
            let (chat, ben) = (try await gateway.chat("ana"), try await gateway.chat("ben"))
            _ = try await ben.currentUser.update(name: "Benedict")
            let channel = try await chat.createPublicConversation(channelId: "lounge", channelName: "Lounge")
            _ = try await channel.invite(user: ben.currentUser)
            let mentions = Calls([])
            let listener = ben.currentUser.onMentioned { mentions.add("\($0.channelId) \($0.mentionedByUserId)") }
            try await listener.ready()

            let draft = channel.createMessageDraft(isTypingIndicatorTriggered: false)
            let (elements, suggestions) = (Observed<[MessageElement]>([]), Observed<[SuggestedMention]>([]))
            draft.addChangeListener(
                ClosureMessageDraftChangeListener { parts, suggested in
                    elements.update { $0 = parts }
                    suggested.async { result in suggestions.update { $0 = (try? result.get()) ?? [] } }
                })
            draft.update(text: "Hi @Bene, see #Loun")
            let found = await suggestions.wait { $0.count == 2 }
            #expect(found.map(\.target) == [.user(userId: "ben"), .channel(channelId: "lounge")])
            #expect(found.getSuggestionsFor(position: 5).map(\.replaceWith) == ["Benedict"])
            draft.insertSuggestedMention(mention: found[0], text: found[0].replaceWith)
            draft.update(text: "Hi Benedict, see [x] 👋 docs")
            draft.addMention(offset: 24, length: 4, target: .url(url: "https://example.com/a_(b)"))
            let parts: [MessageElement] = [
                .plainText(text: "Hi "), .link(text: "Benedict", target: .user(userId: "ben")),
                .plainText(text: ", see [x] 👋 "), .link(text: "docs", target: .url(url: "https://example.com/a_(b)")),
            ]
            #expect(elements.value == parts && parts.containsAnyMention())
            let sent: Timetoken = try await outcome { draft.send(completion: $0) }
            await mentions.expect(["lounge ana"])
            let message = try #require(try await channel.getMessage(timetoken: sent))
            #expect(message.text == #"Hi [Benedict](pn-user://ben), see [x] 👋 [docs](https://example.com/a_(b\))"#)
            #expect(message.getMessageElements() == parts)

            draft.insertText(offset: 5, text: "-")
            draft.removeText(offset: 0, length: 3)
            #expect(elements.value.first == .plainText(text: "Be-nedict, see [x] 👋 "))
            draft.removeMention(offset: 22)
            #expect(elements.value == [.plainText(text: "Be-nedict, see [x] 👋 docs")])
            let reply: MessageDraftImpl = try await outcome { message.createThreadMessageDraft(completion: $0) }
            reply.update(text: "indeed")
            try await reply.send()
            #expect(try await message.getThread().getHistory().messages.map(\.text) == ["indeed"])
            listener.close()
        }
    }

    @Test("follow changes with the listeners and sequences of the older generation")
    @available(*, deprecated, message: "the samples are of the older generation")
    func older() async throws {
        try await CompatGateway.run { _, gateway in
            let chat = try await gateway.chat("ana")
            let channel = try await chat.createPublicConversation(channelId: "room.1", channelName: "Room")
            let sent = try await channel.sendText(text: "hi")
            let message = try #require(try await channel.getMessage(timetoken: sent))
            let membership = try #require(try await channel.getMember(userId: "ana"))
            let calls = Calls([])
            let listeners = [
                channel.streamUpdates { calls.add("channel \($0?.name ?? "-")") },
                ChannelImpl.streamUpdatesOn(channels: [channel]) { calls.add("channels \($0.map(\.name))") },
                chat.currentUser.streamUpdates { calls.add("user \($0?.name ?? "-")") },
                UserImpl.streamUpdatesOn(users: [chat.currentUser]) { calls.add("users \($0.map(\.name))") },
                membership.streamUpdates { calls.add("membership \($0?.status ?? "-")") },
                MembershipImpl.streamUpdatesOn(memberships: [membership]) { calls.add("memberships \($0.count)") },
                message.streamUpdates { calls.add("message \($0.text)") },
                MessageImpl.streamUpdatesOn(messages: [message]) { calls.add("messages \($0.map(\.text))") },
                channel.connect { calls.add("sent \($0.text)") },
                channel.streamReadReceipts { calls.add("read \($0.values.flatMap(\.self))") },
            ]
            for listener in listeners { try await listener.ready() }
            _ = try await channel.update(name: "Hall")
            #expect(Set(await calls.wait { $0.count >= 2 }) == ["channel Hall", #"channels [Optional("Hall")]"#])
            calls.update { $0 = [] }
            _ = try await chat.currentUser.update(name: "Ana")
            #expect(Set(await calls.wait { $0.count >= 2 }) == ["user Ana", #"users [Optional("Ana")]"#])
            calls.update { $0 = [] }
            _ = try await membership.update(custom: [:], status: "busy")
            #expect(Set(await calls.wait { $0.count >= 2 }) == ["membership busy", "memberships 1"])
            calls.update { $0 = [] }
            _ = try await message.editText(newText: "hey")
            #expect(Set(await calls.wait { $0.count >= 2 }) == ["message hey", #"messages ["hey"]"#])
            for listener in listeners[..<8] { listener.close() }
            calls.update { $0 = [] }
            _ = try await membership.setLastReadMessage(message: message)
            await calls.expect([#"read ["ana"]"#])
            let next = try await channel.sendText(text: "bye")
            await calls.expect(["sent bye"])
            for listener in listeners { listener.close() }

            var sequence = channel.connect().makeAsyncIterator()
            // The sequence has no sign of its connection, so that messages are sent until one arrives.
            let sender = Task {
                while !Task.isCancelled { _ = try await channel.sendText(text: "again") }
            }
            let received = await sequence.next()
            sender.cancel()
            #expect(received?.text == "again" && (received?.timetoken ?? 0) > next)
        }
    }

    @Test("listen for as long as the program keeps the listener")
    func lifetime() async throws {
        try await CompatGateway.run { _, gateway in
            let calls = Calls([])
            func listen() async throws -> any AutoCloseable {
                let channel = try await gateway.chat("ana").createPublicConversation(channelId: "room.1")
                let listener = channel.onTypingChanged { calls.add("typing \($0)") }
                try await listener.ready()
                return listener
            }
            let listener = try await listen()
            let ben = try await gateway.chat("ben")
            let channel = try #require(try await ben.getChannel(channelId: "room.1"))
            try await channel.startTyping()
            await calls.expect([#"typing ["ben"]"#])
            listener.close()
            try await channel.stopTyping()
            let sent = Calls([])
            let next = channel.onMessageReceived { sent.add($0.text) }
            try await next.ready()
            try await channel.sendText(text: "end")
            await sent.expect(["end"])
            #expect(calls.value.isEmpty)
        }
    }

    @Test("tell what is wrong")
    func errors() async throws {
        try await CompatGateway.run { _, gateway in
            let wrong = ChatImpl(pubNubConfiguration: PubNubConfiguration(url: "chat", key: "dev", userId: "ana"))
            let address = await #expect(throws: PubNubError.self) {
                let _: ChatImpl = try await outcome { wrong.initialize(completion: $0) }
            }
            #expect(address?.details == ["the gateway's address must begin with http:// or https://"])
            await #expect(throws: PubNubError.self) { try await wrong.currentUser.onUpdated { _ in }.ready() }
            let stranger = try await gateway.chat("eva", key: try await gateway.token(of: "eva"))
            #expect(try await stranger.getCurrentUserMentions().mentions.isEmpty)
            let denied = await #expect(throws: PubNubError.self) {
                try await stranger.getEventsHistory(channelId: "hall")
            }
            #expect(denied?.reason == .forbidden)
        }
    }
}
