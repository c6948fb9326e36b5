import ChatCore
import ChatModel
import LongPolling
import HTTPServer
import Locking

/// The parameters that `GET /v1/stream` and `GET /v1/poll` have in common.
struct FollowRequest {
    /// The caller that receives the events. If the request names a user, the caller's user is that user, and the
    /// request follows as a device of the user.
    private(set) var caller: Caller
    private(set) var selection: Selection
    private(set) var groups: GroupSelection?
    /// True when the request makes the user present on the channels.
    let isPresent: Bool
    /// The objects to include with each event.
    let included: Set<IncludedObject>
    /// The position from which to continue, as the client sent it; nil to start with the next event.
    let cursor: String?
    /// True when the cursor comes from `Last-Event-ID`. An EventSource sends this field on every reconnect, even after
    /// an error.
    private let isLastEventID: Bool
    private let user: String?
    private let device: String?
    private let channels: [String]
    private let groupNames: [String]

    /// The hub's count of audience changes (events that change who may read a channel), read before the user's channels
    /// were looked up. If the hub's count is higher later, the looked-up channels may be outdated.
    private(set) var audienceChanges: UInt64 = 0

    private static let parameterNames = [
        "channel", "type", "filter", "cursor", "user", "device", "group", "presence", Parameters.include,
    ]
    static let streamParameters = parameterNames + ["ticket"]
    static let pollParameters = parameterNames + ["limit"]

    /// Parses a request. Call ``lookUpAtOnce(_:_:)`` or ``lookedUp(_:_:)`` before you use the selection.
    ///
    /// - Parameter selections: supplies the selection of a request that names only one channel.
    /// - Throws: `.malformed` and `.forbidden` as `ChatAccess.selection` does.
    init(
        _ request: Request, _ parameters: Parameters, _ chat: ChatAccess, _ selections: SelectionCache
    ) throws(ChatError) {
        let filter = try parameters.text("filter").map { text throws(ChatError) in
            try Filter(text, limits: chat.limits)
        }
        let (lastID, cursor) = (request.lastEventID, try parameters.streamCursor())
        self.cursor = lastID ?? cursor
        isLastEventID = lastID != nil
        isPresent = try parameters.flag("presence")
        included = try parameters.included()
        device = try parameters.text("device")
        user = try parameters.text("user") ?? device.flatMap { _ in chat.caller.user }
        groupNames = parameters.texts("group")
        try Self.check(groups: groupNames)
        channels = parameters.texts("channel")
        let types = parameters.texts("type")
        selection =
            if let channel = channels.first, channels.count == 1, types.isEmpty, filter == nil, user == nil {
                try selections.selection(of: channel, chat)
            } else {
                try chat.selection(channels: channels, types: types, filter: filter, isOfDevice: user != nil)
            }
        caller = chat.caller
        guard user == nil else { return }
        guard device == nil else {
            throw Parameters.bad(
                "device", "can be sent only together with 'user', the user of the device",
                keyword: "dependentRequired")
        }
        guard !isPresent else {
            throw Parameters.bad(
                "presence", "can be sent only together with 'user', the user who is present",
                keyword: "dependentRequired")
        }
    }

    private static func check(groups names: [String]) throws(ChatError) {
        guard names.count <= LiveStreams.mostGroups else {
            throw Parameters.bad("group", "may be given at most \(LiveStreams.mostGroups) times", keyword: "repeated")
        }
        for name in names { try Names.check(group: name) }
    }

    /// Completes a request whose channels need no lookup, if this is possible without waiting. Returns false for any
    /// other request; call ``lookedUp(_:_:)`` instead.
    mutating func lookUpAtOnce(_ chat: ChatAccess, _ streams: LiveStreams) -> Bool {
        guard user == nil, groupNames.isEmpty, chat.caller.user == nil,
            let changes = streams.polls.audienceChangesAtOnce(in: chat)
        else { return false }
        audienceChanges = changes
        return true
    }

    /// Looks up the channels of the request's user and groups, and checks that the caller may follow the channels. Runs
    /// off the loop when the request names channel groups, which may contain thousands of channels.
    ///
    /// - Throws: `.forbidden` for channels that the user may not read; the errors of the store.
    nonisolated(nonsending) func lookedUp(
        _ chat: ChatAccess, _ streams: LiveStreams
    ) async throws(ChatError) -> FollowRequest {
        guard !groupNames.isEmpty else { return try await resolved(chat, streams) }
        return try await asLongWork { () async throws(ChatError) in try await resolved(chat, streams) }
    }

    private nonisolated(nonsending) func resolved(
        _ chat: ChatAccess, _ streams: LiveStreams
    ) async throws(ChatError) -> FollowRequest {
        var request = self
        request.audienceChanges = try await streams.polls.audienceChanges(in: chat)
        if !groupNames.isEmpty {
            request.groups = GroupSelection(
                names: groupNames, channels: channels, version: try await streams.polls.groups.version())
        }
        if user == nil, groupNames.isEmpty || !channels.isEmpty { try await chat.requireAccess(selection) }
        if let groups = request.groups {
            request.selection = try await chat.selection(of: groups, like: selection, isOfDevice: user != nil)
        }
        guard let user else { return request }
        request.selection = try await chat.selection(request.selection, heardBy: user, on: device)
        request.caller.user = user
        return request
    }

    /// The position at which the client starts. An invalid last id, such as the id of another gateway, results in a gap
    /// instead of an error. An error would stop an EventSource permanently, because an EventSource cannot discard its
    /// last id (WHATWG HTML, 9.2.3).
    nonisolated(nonsending) func resumption(
        in chat: ChatAccess, at cursor: String
    ) async throws(ChatError) -> ResumePosition {
        try await chat.resume(selection, at: cursor, orFromNow: isLastEventID)
    }

    /// The result of ``resumption(in:at:)`` without a gap, if it is known without waiting; nil otherwise.
    func resumptionAtOnce(in chat: ChatAccess, at cursor: String) -> ResumePosition? {
        chat.resumeAtOnce(selection, at: cursor, orFromNow: isLastEventID)
    }
}
