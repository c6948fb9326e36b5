import ChatCore
import ChatModel
import Following

extension LiveStreams {
    /// Groups that one stream may follow.
    static let mostGroups = 10

    /// The groups have changed: streams that follow one go on with what it holds now.
    func groupsChanged(_ groups: Set<RecordKey>) async {
        for sequence in groupStreams.sorted() {
            guard let stream = roll[sequence], stream.groups?.isAmong(groups, stream.owner.caller.space) == true
            else { continue }
            await followGroups(of: stream)
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
