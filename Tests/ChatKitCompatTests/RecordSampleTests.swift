import ChatKitCompat
import TestSupport
import Testing

@Suite("The samples of history, presence and records", .timeLimit(.minutes(3))) struct RecordSampleTests {
    @Test("read histories by pages, with actions, and delete them")
    func history() async throws {
        try await CompatGateway.run { pubnub, _ in
            var sent: [Timetoken] = []
            for text in ["1", "2", "3"] {
                sent.append(
                    try await outcome { pubnub.publish(channel: "room.1", message: text, completion: $0) })
            }
            let _: any PubNubMessageAction = try await outcome {
                pubnub.addMessageAction(
                    channel: "room.1", type: "reaction", value: "smiley", messageTimetoken: sent[2], completion: $0)
            }
            let newest = try await outcome {
                pubnub.fetchMessageHistory(
                    for: ["room.1", "none"], includeActions: true, page: PubNubBoundedPageBase(limit: 2),
                    completion: $0)
            }
            #expect(newest.messagesByChannel.keys.sorted() == ["room.1"])
            #expect(newest.messagesByChannel["room.1"]?.map(\.published) == Array(sent[1...]))
            #expect(newest.messagesByChannel["room.1"]?[1].actions.map(\.actionValue) == ["smiley"])
            let next = try #require(newest.next)
            let older = try await outcome {
                pubnub.fetchMessageHistory(for: ["room.1"], page: next, completion: $0)
            }
            #expect(older.messagesByChannel["room.1"]?.map(\.published) == [sent[0]] && older.next == nil)
            let behind = try await outcome { pubnub.messageCounts(channels: ["room.1": sent[0]], completion: $0) }
            #expect(behind == ["room.1": 2])
            let _: Void = try await outcome {
                pubnub.deleteMessageHistory(from: "room.1", start: sent[0], end: sent[1], completion: $0)
            }
            let rest = try await outcome { pubnub.fetchMessageHistory(for: ["room.1"], completion: $0) }
            #expect(rest.messagesByChannel["room.1"]?.map(\.published) == [sent[0], sent[2]])
            let _: Void = try await outcome { pubnub.deleteMessageHistory(from: "room.1", completion: $0) }
            let none = try await outcome { pubnub.fetchMessageHistory(for: ["room.1"], completion: $0) }
            #expect(none.messagesByChannel.isEmpty)
        }
    }

    @Test("read the actions of a channel by pages, without removed ones")
    func actions() async throws {
        try await CompatGateway.run { pubnub, _ in
            let message: Timetoken = try await outcome {
                pubnub.publish(channel: "room.1", message: "x", completion: $0)
            }
            var added: [any PubNubMessageAction] = []
            for value in ["a", "b", "c"] {
                added.append(
                    try await outcome {
                        pubnub.addMessageAction(
                            channel: "room.1", type: "mark", value: value, messageTimetoken: message, completion: $0)
                    })
            }
            let removed = try await outcome {
                pubnub.removeMessageActions(
                    channel: "room.1", message: message, action: added[0].actionTimetoken, completion: $0)
            }
            #expect(removed.action == added[0].actionTimetoken && removed.message == message)
            let newest = try await outcome {
                pubnub.fetchMessageActions(
                    channel: "room.1", page: PubNubBoundedPageBase(limit: 1), completion: $0)
            }
            #expect(newest.actions.map(\.actionValue) == ["c"])
            let next = try #require(newest.next)
            let older = try await outcome {
                pubnub.fetchMessageActions(
                    channel: "room.1", page: PubNubBoundedPageBase(start: next.start), completion: $0)
            }
            #expect(older.actions.map(\.actionValue) == ["b"] && older.next == nil)
        }
    }

    @Test("read who is present where, and with which state")
    func presence() async throws {
        try await CompatGateway.run { pubnub, gateway in
            let group = try await outcome { pubnub.add(channels: ["hall"], to: "house", completion: $0) }
            #expect(group.group == "house" && group.channels == ["hall"])
            for user in ["ana", "ben"] {
                let client = gateway.client(user)
                let _: any JSONCodable = try await outcome {
                    client.setPresence(state: ["mood": "fine"], on: ["room.1"], and: ["house"], completion: $0)
                }
            }
            let here = try await outcome {
                pubnub.hereNow(on: ["room.1", "empty"], and: ["house"], includeState: true, completion: $0)
            }
            #expect(here.totalChannels == 3 && here.totalOccupancy == 4)
            #expect(here["room.1"]?.occupants == ["ana", "ben"] && here["empty"]?.occupancy == 0)
            #expect(here["hall"]?.occupantsState["ben"]?[rawValue: "mood"] as? String == "fine")
            let numbers = try await outcome { pubnub.hereNow(on: ["room.1"], includeUUIDs: false, completion: $0) }
            #expect(numbers["room.1"]?.occupancy == 2 && numbers["room.1"]?.occupants == [])
            let part = try await outcome { pubnub.hereNow(on: ["room.1"], limit: 1, offset: 1, completion: $0) }
            #expect(part["room.1"]?.occupants == ["ben"])
            let channels = try await outcome { pubnub.whereNow(for: "ben", completion: $0) }
            #expect(channels["ben"]?.sorted() == ["hall", "room.1"])
            let state = try await outcome {
                pubnub.getPresenceState(for: "ben", on: ["room.1", "empty"], completion: $0)
            }
            #expect(state.uuid == "ben" && state.stateByChannel.keys.sorted() == ["room.1"])
        }
    }

    @Test("change and list channel groups")
    func groups() async throws {
        try await CompatGateway.run { pubnub, _ in
            let _: (group: String, channels: [String]) = try await outcome {
                pubnub.add(channels: ["a", "b"], to: "family", completion: $0)
            }
            let _: (group: String, channels: [String]) = try await outcome {
                pubnub.remove(channels: ["a"], from: "family", completion: $0)
            }
            let listed = try await outcome { pubnub.listChannels(for: "family", completion: $0) }
            #expect(listed.group == "family" && listed.channels == ["b"])
            let names = try await outcome { pubnub.listChannelGroups(completion: $0) }
            #expect(names == ["family"])
            let removed: String = try await outcome { pubnub.remove(channelGroup: "family", completion: $0) }
            #expect(removed == "family")
            #expect(try await outcome { pubnub.listChannelGroups(completion: $0) } == [])
        }
    }

    @Test("set, read, list and remove users and channels")
    func records() async throws {
        try await CompatGateway.run { pubnub, _ in
            let user = PubNubUserMetadataBase(
                metadataId: "cleo", name: "Cleo", type: "staff", custom: ["floor": 3, "title": "chief"])
            let set = try await outcome { pubnub.setUserMetadata(user, completion: $0) }
            #expect(set.name == "Cleo" && set.type == "staff" && set.custom?["floor"]?.intOptional == 3)
            let stale = await #expect(throws: PubNubError.self) {
                let _: any PubNubUserMetadata = try await outcome {
                    pubnub.setUserMetadata(
                        PubNubUserMetadataBase(metadataId: "cleo", name: "C"), ifMatchesEtag: "0", completion: $0)
                }
            }
            #expect(stale?.reason == .preconditionFailed)
            var changed = try #require(set as? PubNubUserMetadataBase)
            changed.custom = ["floor": 4]
            let again = try await outcome {
                pubnub.setUserMetadata(changed, ifMatchesEtag: set.eTag, completion: $0)
            }
            #expect(again.custom?.keys.sorted() == ["floor"] && again.updated != nil)
            let fetched = try await outcome { pubnub.fetchUserMetadata("cleo", completion: $0) }
            #expect(fetched.custom?["floor"]?.intOptional == 4)
            let users = try await outcome {
                pubnub.allUserMetadata(
                    filter: "name LIKE 'C*'", sort: [.init(property: .updated, ascending: false)], completion: $0)
            }
            #expect(users.users.map(\.metadataId) == ["cleo"] && users.next == nil)
            let channel = PubNubChannelMetadataBase(
                metadataId: "crew", name: "Crew", type: "team", status: "active", channelDescription: "us")
            let made = try await outcome { pubnub.setChannelMetadata(channel, completion: $0) }
            #expect(made.type == "team" && made.status == "active" && made.channelDescription == "us")
            let channels = try await outcome { pubnub.allChannelMetadata(limit: 1, completion: $0) }
            #expect(channels.channels.map(\.metadataId) == ["crew"])
            #expect(try await outcome { pubnub.fetchChannelMetadata("crew", completion: $0) }.name == "Crew")
            #expect(try await outcome { pubnub.removeChannelMetadata("crew", completion: $0) } == "crew")
            #expect(try await outcome { pubnub.removeUserMetadata("cleo", completion: $0) } == "cleo")
            let missing = await #expect(throws: PubNubError.self) {
                let _: any PubNubUserMetadata = try await outcome {
                    pubnub.fetchUserMetadata("cleo", completion: $0)
                }
            }
            #expect(missing?.reason == .resourceNotFound)
        }
    }

    @Test("set, list and remove memberships from both ends")
    func memberships() async throws {
        try await CompatGateway.run { pubnub, _ in
            let membership = PubNubMembershipMetadataBase(
                userMetadataId: "ben", channelMetadataId: "crew", status: "new", custom: ["seat": 7])
            let joined = try await outcome {
                pubnub.setMemberships(
                    userId: "ben", channels: [membership], include: .init(channelFields: true),
                    sort: [.init(property: .updated)], completion: $0)
            }
            #expect(joined.memberships.map(\.channelMetadataId) == ["crew"])
            #expect(joined.memberships[0].custom?["seat"]?.intOptional == 7)
            #expect(joined.memberships[0].channel?.metadataId == "crew")
            let user = PubNubUserMetadataBase(metadataId: "cleo", name: "Cleo")
            let _: any PubNubUserMetadata = try await outcome { pubnub.setUserMetadata(user, completion: $0) }
            let members = try await outcome {
                pubnub.setMembers(
                    channel: "crew",
                    users: [PubNubMembershipMetadataBase(userMetadataId: "cleo", channelMetadataId: "crew")],
                    include: .init(uuidFields: true), sort: [.init(property: .object(.id))], completion: $0)
            }
            #expect(members.memberships.map(\.userMetadataId) == ["ben", "cleo"])
            #expect(members.memberships[1].user?.name == "Cleo")
            let left = try await outcome {
                pubnub.removeMembers(channel: "crew", users: [members.memberships[1]], completion: $0)
            }
            #expect(left.memberships.map(\.userMetadataId) == ["ben"])
            let none = try await outcome {
                pubnub.removeMemberships(userId: "ben", channels: [membership], completion: $0)
            }
            #expect(none.memberships.isEmpty && none.next == nil)
            #expect(try await outcome { pubnub.fetchMemberships(userId: nil, completion: $0) }.memberships.isEmpty)
        }
    }
}
