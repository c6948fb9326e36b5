import ChatCore
import ChatModel
import LongPolling

extension LiveStreams {
    /// The maximum number of groups that one stream may follow.
    static let mostGroups = 10

    /// The values that determine the channels of a stream's groups. Streams with equal values share one lookup of the
    /// groups.
    private struct GroupQuery: Hashable {
        let owner: ObjectIdentifier
        /// The device as which the stream listens; nil for a stream that does not belong to a device. A user may have
        /// streams of both kinds.
        let viewer: Viewer?
        let names: [String]
        let channels: [String]
    }

    /// The number of group changes so far.
    var groupChanges: UInt64 { polls.groups.assumeIsolated { $0.changes } }

    /// Updates the streams that follow a changed group to the group's current channels. The request that changed the
    /// group waits for this call.
    func groupsChanged(_ groups: Set<RecordKey>) async {
        await followGroups(
            of: groupStreams.sorted().compactMap { roll[$0] }
                .filter { $0.groups?.isAmong(groups, $0.owner.caller.app) == true })
    }

    /// Looks up the current channels of the streams' groups, and moves the streams to these channels. Each group is
    /// read once. Streams with equal queries share one lookup.
    func followGroups(of streams: [LiveStream]) async {
        guard !streams.isEmpty else { return }
        let version = groupChanges
        let keys = streams.reduce(into: Set<RecordKey>()) { keys, stream in
            keys.formUnion(stream.groups?.keys(in: stream.owner.caller.app) ?? [])
        }
        var answers: [GroupQuery: Result<ChannelSet, ChatError>] = [:]
        let held: [RecordKey: [String]]
        do throws(ChatError) {
            held = try await service.channels(ofGroups: keys)
        } catch {
            for stream in streams where stream.groups != nil { close(stream, .storeUnavailable) }
            return
        }
        for (index, stream) in streams.enumerated() {
            guard let groups = stream.groups else { continue }
            let question = GroupQuery(
                owner: ObjectIdentifier(stream.owner), viewer: stream.feed.selection.viewer,
                names: groups.names, channels: groups.channels)
            let answer: Result<ChannelSet, ChatError>
            if let known = answers[question] {
                answer = known
            } else {
                answer = await channels(of: groups, holding: held, for: stream)
                answers[question] = answer
            }
            follow(answer, stream, version: version)
            // Moving streams occupies the loop. The yield lets other work run.
            if index % 256 == 255 { await Task.yield() }
        }
    }

    private func channels(
        of groups: GroupSelection, holding held: [RecordKey: [String]], for stream: LiveStream
    ) async -> Result<ChannelSet, ChatError> {
        let chat = service.chat(for: stream.owner.caller)
        let selection = stream.feed.selection
        do throws(ChatError) {
            let viewer = selection.viewer
            let channels = try await chat.channels(of: groups, holding: held, isOfDevice: viewer != nil)
            if let viewer {
                let wanted = Selection(channels: channels, isOfUser: selection.isOfUser)
                _ = try await chat.selection(wanted, heardBy: viewer.user, on: viewer.device)
            }
            return .success(channels)
        } catch {
            return .failure(error)
        }
    }

    /// Applies a lookup to one stream. Only the channels of the stream's groups are replaced, because another request
    /// may have changed the other parts of the selection, or the groups themselves, during the lookup.
    private func follow(_ answer: Result<ChannelSet, ChatError>, _ stream: LiveStream, version: UInt64) {
        guard roll[stream.sequence] != nil, let groups = stream.groups, groups.version <= version else { return }
        switch answer {
        case .success(let channels):
            stream.groups?.version = version
            let old = stream.feed.selection
            let selection = Selection(
                channels: channels, types: old.types, filter: old.filter, viewer: old.viewer, isOfUser: old.isOfUser)
            guard selection != old else { return }
            // The user's access to the new channels may have changed since the lookup.
            stream.needsRecheck = selection.isOfUser
            move(stream, to: selection)
        case .failure(let error): close(stream, error.code == .forbidden ? .unauthorized : .storeUnavailable)
        }
    }
}
