import ChatCore
import ChatModel

/// What a stream or poll asked for that follows channel groups: it changes when a group does.
struct FollowedGroups: Sendable {
    let names: [String]
    /// The channels and patterns it has named beside the groups.
    let channels: [String]
    /// How many changes of groups there had been when they were looked up.
    var version: UInt64

    fileprivate func isAmong(_ changed: Set<RecordKey>, _ space: SpaceID) -> Bool {
        names.contains { changed.contains(GroupRecord.key($0, in: space)) }
    }
}

extension ChatAccess {
    /// The selection of those channels and of the groups' channels, as far as the credential reaches them; what is asked
    /// of types and by filter is as in the one it resembles.
    func selection(of groups: FollowedGroups, like other: Selection) async throws(ChatError) -> Selection {
        let named = groups.channels.isEmpty ? nil : try selection(channels: groups.channels).channels
        var channels = named ?? ChannelSet(space: space)
        let records = try await service.engine.directory.read(groups.names.map { GroupRecord.key($0, in: space) })
        for name in records.compactMap({ $0.flatMap(GroupRecord.init) }).flatMap(\.channels)
        where caller.reaches(channel: name) {
            channels.names.insert(ExactText(name))
        }
        let selection = Selection(channels: channels, types: other.types, filter: other.filter)
        guard let viewer = other.viewer else { return selection }
        return try await self.selection(selection, heardBy: viewer.user, on: viewer.device)
    }
}

extension LiveStreams {
    /// Groups that one stream may follow.
    static let mostGroups = 10

    /// How many changes of groups there were; from the first call on they are followed.
    func groupsVersion() async throws(ChatError) -> UInt64 {
        if groupWatch == nil {
            let directory = service.engine.directory
            let revision = try await directory.revision()
            // Somebody else may have begun meanwhile.
            if groupWatch == nil { groupWatch = Task { await self.watchGroups(directory, from: revision) } }
        }
        return groupChanges
    }

    private func watchGroups(_ directory: any Directory, from revision: Revision) async {
        for await changes in await directory.changes(after: revision) {
            let groups = Set(changes.keys.filter { $0.kind == .group })
            guard !groups.isEmpty else { continue }
            groupChanges += 1
            await changed(groups)
        }
    }

    private func changed(_ groups: Set<RecordKey>) async {
        finishPolls(of: groups)
        for sequence in groupStreams.sorted() {
            guard let stream = roll[sequence], stream.groups?.isAmong(groups, stream.owner.caller.space) == true
            else { continue }
            await followGroups(of: stream)
        }
    }

    /// Their next ones ask for what the groups hold then.
    private func finishPolls(of groups: Set<RecordKey>) {
        for entry in holds.all where entry.poll.groups?.isAmong(groups, entry.poll.caller.space) == true {
            entry.poll.assumeIsolated { $0.finish() }
        }
    }

    /// Looks up what a stream's groups hold now, and has it follow that.
    func followGroups(of stream: LiveStream) async {
        guard let groups = stream.groups else { return }
        do throws(ChatError) {
            let chat = service.chat(for: stream.owner.caller)
            let selection = try await chat.selection(of: groups, like: stream.feed.selection)
            if selection.viewer == nil { try await chat.demandHearing(selection) }
            guard roll[stream.sequence] != nil, stream.groups != nil else { return }
            if selection != stream.feed.selection { move(stream, to: selection) }
        } catch {
            close(stream, error.code == .forbidden ? .unauthorized : .storeUnavailable)
        }
    }
}
