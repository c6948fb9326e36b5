import ChatCore
import ChatKit
import ChatModel

/// The selection of a reader, converted to the types of the engine's chat service.
struct HubSelection: Sendable {
    let chat: ChatAccess
    /// The user and the id of the device; nil when the reader is not a device.
    let device: (user: UserID, id: String)?
    private let eventSelection: EventSelection
    private let filter: Filter?
    /// The id of the connection that keeps the device's user present.
    private let holder = HolderID(Device.fresh())

    /// Converts a selection of ChatKit to the types of the engine's chat service, for a user and a device of this user.
    ///
    /// - Throws: `.malformed` for an invalid filter.
    init(_ eventSelection: EventSelection, _ chat: ChatAccess, user: String, device: String) throws(ChatError) {
        self.eventSelection = eventSelection
        self.chat = chat
        self.device = eventSelection.isDevice ? (UserID(user, in: chat.app), device) : nil
        filter = try eventSelection.filter.map { text throws(ChatError) in try Filter(text, limits: chat.limits) }
    }

    var since: Timetoken? { eventSelection.since }

    /// The objects to include with each event.
    var include: Set<ChatCore.IncludedObject> {
        ChatCore.IncludedObject.objects(named: eventSelection.include.map(\.rawValue)).objects
    }

    /// The keys of the selection's channel groups.
    var groups: Set<RecordKey> { Set(eventSelection.groups.map { GroupRecord.key($0, in: chat.app) }) }

    /// Returns the current selection, with the current channels of its groups.
    func selection() async throws(ChatError) -> Selection {
        var selection = try chat.selection(
            channels: eventSelection.channels, types: eventSelection.types, filter: filter)
        if !eventSelection.groups.isEmpty {
            // An empty list of channels would select all channels. If only groups are named and they are empty, no
            // channel is selected.
            var channels = eventSelection.channels.isEmpty ? ChannelSet(app: chat.app) : selection.channels
            channels.names.formUnion(try await chat.groupChannels(eventSelection.groups).map { ExactText($0) })
            selection = Selection(
                channels: channels, types: selection.types, filter: filter, isOfUser: selection.isOfUser)
        }
        guard let device else { return selection }
        return try await chat.selection(selection, heardBy: device.user.name, on: device.id)
    }

    /// Registers the device as connected: the device's user stays in open channels and receives unread counts.
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
