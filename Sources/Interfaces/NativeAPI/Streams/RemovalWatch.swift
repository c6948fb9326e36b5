import ChatCore
import ChatModel
import Following
import HTTPServer
import JSON

/// Hears who may no longer follow a channel of one app: by a ban, or by leaving one that is for its members. For the streams
/// and polls that are a user's by their credential without being a device's: those share feeds with others, and no feed
/// asks who it is for.
actor RemovalWatch: FeedSink {
    nonisolated let streams: LiveStreams
    nonisolated let selection: Selection
    nonisolated var unownedExecutor: UnownedSerialExecutor { streams.unownedExecutor }

    init(_ streams: LiveStreams, _ space: SpaceID) {
        self.streams = streams
        selection = Selection(
            channels: ChannelSet(space: space, isAll: true),
            types: ["user.banned", "member.left", "channel.created", "channel.updated"].map { .exact($0) })
    }

    nonisolated func take(_ events: [Event]) {
        for event in events {
            // What clients publish in the same words has no such audience.
            guard case .rule = event.audience else { continue }
            let user = Self.removed(by: event)
            guard user != nil || Self.hasBecomePrivate(event) else { continue }
            // Behind this turn of the hub: until then not every feed has what it brings.
            streams.loop.post { [streams] in
                streams.assumeIsolated { streams in
                    if let user {
                        streams.expel(UserID(user, in: event.channel.space), from: event.channel.name)
                    } else {
                        streams.askAgain(onChannel: event.channel)
                    }
                }
            }
        }
    }

    private static func hasBecomePrivate(_ event: Event) -> Bool {
        guard event.type.hasPrefix("channel."), let data = try? JSONDocument(event.data).root,
            data["channel"]?["type"]?.string.flatMap(ChannelKind.init(rawValue:))?.isPrivate ?? false
        else { return false }
        return event.type == "channel.created"
            || data["changes"]?.elements?.contains { $0["key"]?.string == "kind" } ?? false
    }

    /// Nil for who may follow the channel as before.
    private static func removed(by event: Event) -> String? {
        guard let data = try? JSONDocument(event.data).root else { return nil }
        guard !event.type.hasPrefix("channel.") else { return nil }
        if event.type == "user.banned" { return data["user_id"]?.string }
        let kind = data["channel"]?["type"]?.string.flatMap(ChannelKind.init(rawValue:))
        return kind?.isPrivate ?? false ? data["user"]?["user_id"]?.string : nil
    }
}

extension LiveStreams {
    /// From now on bans and removals in the app end what its users follow by name.
    func watchRemovals(in space: SpaceID) {
        guard removalWatches[space] == nil else { return }
        let watch = RemovalWatch(self, space)
        removalWatches[space] = watch
        service.hub.assumeIsolated { $0.attach(watch, to: watch.selection) }
    }

    func expel(_ user: UserID, from channel: String) {
        // Their next one is told why.
        polls.assumeIsolated { polls in
            polls.finish { Self.isConcerned($0.caller, $0.selection, user, channel) }
        }
        for stream in streams(of: user)
        where Self.isConcerned(stream.owner.caller, stream.feed.selection, user, channel) {
            if let rest = stream.feed.selection.without(channel) {
                move(stream, to: rest)
            } else {
                close(stream, .unauthorized)
            }
        }
    }

    /// The channel is for its members from now on: each who has named it is asked for again.
    fileprivate func askAgain(onChannel channel: ChannelID) {
        polls.assumeIsolated { polls in
            polls.finish { order in
                guard order.selection.isOfUser, let user = order.caller.user else { return false }
                return Self.isConcerned(order.caller, order.selection, UserID(user, in: channel.space), channel.name)
            }
        }
        guard namedByUsers[channel] != nil else { return }
        for user in userStreams.keys where user.space == channel.space {
            for stream in streams(of: user)
            where Self.isConcerned(stream.owner.caller, stream.feed.selection, user, channel.name) {
                askAgain(of: stream, about: channel)
            }
        }
    }

    /// Asks whether the user may hear what a stream has named, now that it hangs on the hub: what was so before may have
    /// changed on the way there.
    ///
    /// - Parameter channel: one that has just changed; what is remembered of it may be what it was before.
    func askAgain(of stream: LiveStream, about channel: ChannelID? = nil) {
        guard stream.feed.selection.isOfUser, !stream.feed.selection.channels.names.isEmpty else { return }
        Task { [self] in
            do throws(ChatError) {
                try await service.chat(for: stream.owner.caller).demandHearing(stream.feed.selection)
            } catch {
                close(stream, error.code == .forbidden ? .unauthorized : .storeUnavailable)
            }
        }
    }

    private static func isConcerned(
        _ caller: Caller, _ selection: Selection, _ user: UserID, _ channel: String
    ) -> Bool {
        guard selection.viewer == nil, let own = caller.user, caller.space == user.space else { return false }
        return ExactText(own) == ExactText(user.name) && selection.channels.names.contains(ExactText(channel))
    }
}

extension Selection {
    /// The same without a channel it names; nil when nothing is left.
    fileprivate func without(_ channel: String) -> Selection? {
        var rest = channels
        rest.names.remove(ExactText(channel))
        guard rest.isAll || !rest.names.isEmpty || !rest.prefixes.isEmpty else { return nil }
        return Selection(channels: rest, types: types, filter: filter, viewer: viewer, isOfUser: isOfUser)
    }
}
