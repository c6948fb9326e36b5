import ChatCore
import ChatModel
import Following

extension LiveStreams {
    /// Groups that one stream may follow.
    static let mostGroups = 10

    /// What a stream's groups mean to it depends on these alone.
    private struct GroupQuery: Hashable {
        let owner: ObjectIdentifier
        /// As whom the stream listens; a user may have one that is shared beside it.
        let viewer: Viewer?
        let names: [String]
        let channels: [String]
    }

    /// How many changes of groups there have been.
    var groupChanges: UInt64 { polls.groups.assumeIsolated { $0.changes } }

    /// The groups have changed: streams that follow one go on with what it holds now. Who has changed them waits for it.
    func groupsChanged(_ groups: Set<RecordKey>) async {
        await followGroups(
            of: groupStreams.sorted().compactMap { roll[$0] }
                .filter { $0.groups?.isAmong(groups, $0.owner.caller.app) == true })
    }

    /// Looks up what the streams' groups hold now, and has them follow that: each group is read once, and each question
    /// asked once for all streams that share it.
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
            // Moving is work for the loop, which everybody else waits for.
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

    /// Only the channels are of the groups: whatever else the stream follows may have been changed while they were looked
    /// up, and so may the groups, by somebody whose answer was there before.
    private func follow(_ answer: Result<ChannelSet, ChatError>, _ stream: LiveStream, version: UInt64) {
        guard roll[stream.sequence] != nil, let groups = stream.groups, groups.version <= version else { return }
        switch answer {
        case .success(let channels):
            stream.groups?.version = version
            let old = stream.feed.selection
            let selection = Selection(
                channels: channels, types: old.types, filter: old.filter, viewer: old.viewer, isOfUser: old.isOfUser)
            guard selection != old else { return }
            // What its user may hear of the new channels may have changed since it was looked up.
            stream.mustBeAsked = selection.isOfUser
            move(stream, to: selection)
        case .failure(let error): close(stream, error.code == .forbidden ? .unauthorized : .storeUnavailable)
        }
    }
}
