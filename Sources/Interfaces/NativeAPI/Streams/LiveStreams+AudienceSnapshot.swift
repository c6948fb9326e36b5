import ChatCore
import ChatModel
import LongPolling
import HTTPServer
import JSON

/// Ends streams and polls, or removes channels from them, when their user loses access to a channel. The user loses
/// access by a ban, by leaving a members-only channel, or when a channel becomes members-only. Streams of devices
/// need no such check. The other streams of users' credentials need the check, because they share feeds with other
/// streams, and a feed does not check users.
extension LiveStreams {
    /// Handles an event by which users may lose access to a channel. Called after the event was distributed to the
    /// feeds and before the next event is distributed.
    func audienceChanged(by event: Event) {
        let isPoll = polls.assumeIsolated { !$0.isEmpty }
        guard isPoll || namedByUsers[event.channel] != nil, let data = try? JSONDocument(event.data).root else {
            return
        }
        let kind = data["channel"]?["kind"]?.string.flatMap(ChannelKind.init(rawValue:))
        let isPrivate = kind?.isPrivate ?? false
        switch event.type {
        case "user.banned":
            if let user = data["restriction"]?["user"]?.string {
                expel(UserID(user, in: event.channel.app), from: event.channel.name)
            }
        case "member.left":
            guard isPrivate, let user = data["user"]?["id"]?.string else { return }
            expel(UserID(user, in: event.channel.app), from: event.channel.name)
        case "channel.created": if isPrivate { recheck(onChannel: event.channel) }
        case "channel.updated":
            let changes = data["changes"]?.elements ?? []
            if isPrivate, changes.contains(where: { $0["key"]?.string == "kind" }) {
                recheck(onChannel: event.channel)
            }
        default: break
        }
    }

    private func expel(_ user: UserID, from channel: String) {
        // The user's waiting polls end now. The next poll of the client fails with the reason.
        polls.assumeIsolated { polls in
            polls.finish { Self.isConcerned($0.caller, $0.selection, user, channel) }
        }
        for stream in streams(of: user)
        where Self.isConcerned(stream.owner.caller, stream.feed.selection, user, channel) {
            leaveOut([ExactText(channel)], stream)
        }
    }

    /// Handles a channel that has become members-only. The user of every stream that names the channel is checked
    /// again, and the stream receives nothing until then.
    private func recheck(onChannel channel: ChannelID) {
        polls.assumeIsolated { polls in
            polls.finish { order in
                guard order.selection.isOfUser, let user = order.caller.user else { return false }
                return Self.isConcerned(order.caller, order.selection, UserID(user, in: channel.app), channel.name)
            }
        }
        guard namedByUsers[channel] != nil else { return }
        for user in userStreams.keys where user.app == channel.app {
            for stream in streams(of: user)
            where Self.isConcerned(stream.owner.caller, stream.feed.selection, user, channel.name) {
                stream.needsRecheck = true
                guard !stream.isCatchingUp else { continue }
                stream.feed.flush()
                stream.position = logPosition(of: stream.feed)
                if stream.connection.leave() { startCatchUp(stream) }
            }
        }
    }

    /// Returns true when the access of the stream's user to its channels may have changed since the given count of
    /// audience changes.
    func audienceMayHaveChanged(_ stream: LiveStream, since changes: UInt64) -> Bool {
        let selection = stream.feed.selection
        guard selection.isOfUser, !selection.channels.names.isEmpty else { return false }
        return service.hub.assumeIsolated { $0.audienceMayHaveChanged(selection.channels, since: changes) }
    }

    /// Checks the access of the stream's user again if a check is due. Returns false when the stream has ended.
    func mayReceive(_ stream: LiveStream) async -> Bool {
        while stream.needsRecheck, stream.connection.isOpen {
            // A change of access during the check sets this property again.
            stream.needsRecheck = false
            let selection = stream.feed.selection
            var refused: Set<ExactText> = []
            do throws(ChatError) {
                refused = try await service.chat(for: stream.owner.caller).inaccessible(of: selection.channels.names)
            } catch {
                close(stream, .storeUnavailable)
            }
            guard !refused.isEmpty, stream.feed.selection == selection else { continue }
            // A stream that names a channel without access is closed. A stream that follows the channel only through a
            // group continues without the channel.
            let isNamed = stream.groups.map { $0.channels.contains { refused.contains(ExactText($0)) } } ?? true
            if isNamed { close(stream, .unauthorized) } else { leaveOut(refused, stream) }
        }
        return stream.connection.isOpen
    }

    /// Removes channels from a stream. A stream without remaining channels is closed, unless it follows a group,
    /// because channels can be added to the group later.
    private func leaveOut(_ channels: Set<ExactText>, _ stream: LiveStream) {
        let old = stream.feed.selection
        var rest = old.channels
        rest.names.subtract(channels)
        guard rest.isAll || !rest.names.isEmpty || !rest.prefixes.isEmpty || stream.groups != nil else {
            return close(stream, .unauthorized)
        }
        move(
            stream,
            to: Selection(
                channels: rest, types: old.types, filter: old.filter, viewer: old.viewer, isOfUser: old.isOfUser))
    }

    private static func isConcerned(
        _ caller: Caller, _ selection: Selection, _ user: UserID, _ channel: String
    ) -> Bool {
        guard selection.viewer == nil, let own = caller.user, caller.app == user.app else { return false }
        return ExactText(own) == ExactText(user.name) && selection.channels.names.contains(ExactText(channel))
    }
}
