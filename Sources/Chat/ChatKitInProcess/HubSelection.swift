import ChatCore
import ChatKit
import ChatModel

/// What a reader follows, as the engine's chat understands it.
struct HubSelection: Sendable {
    let chat: ChatAccess
    /// Whose device follows, and its id; nil when it is no device.
    let device: (user: UserID, id: String)?
    private let asked: EventSelection
    private let filter: Filter?
    /// By what the device's user is there.
    private let holder = HolderID(Device.fresh())

    /// - Throws: `.malformed` for a filter that is none.
    init(_ asked: EventSelection, _ chat: ChatAccess, user: String, device: String) throws(ChatError) {
        self.asked = asked
        self.chat = chat
        self.device = asked.isDevice ? (UserID(user, in: chat.app), device) : nil
        filter = try asked.filter.map { text throws(ChatError) in try Filter(text, limits: chat.limits) }
    }

    var since: Timetoken? { asked.since }

    /// The channel groups it follows.
    var groups: Set<RecordKey> { Set(asked.groups.map { GroupRecord.key($0, in: chat.app) }) }

    /// What it comes to now: its groups have the channels they have.
    func selection() async throws(ChatError) -> Selection {
        var selection = try chat.selection(channels: asked.channels, types: asked.types, filter: filter)
        if !asked.groups.isEmpty {
            // No channels beside the groups means none, and not all.
            var channels = asked.channels.isEmpty ? ChannelSet(app: chat.app) : selection.channels
            channels.names.formUnion(try await chat.groupChannels(asked.groups).map { ExactText($0) })
            selection = Selection(
                channels: channels, types: selection.types, filter: filter, isOfUser: selection.isOfUser)
        }
        guard let device else { return selection }
        return try await chat.selection(selection, heardBy: device.user.name, on: device.id)
    }

    /// The device listens: its user stays inside open channels, and is told of what is unread.
    func deviceCame() async {
        guard let device else { return }
        chat.service.presence.opened(holder, of: device.user)
        await chat.service.watchUnread(of: device.user, isOn: true)
    }

    func deviceWent() async {
        guard let device else { return }
        chat.service.presence.closed(holder)
        await chat.service.watchUnread(of: device.user, isOn: false)
    }
}
