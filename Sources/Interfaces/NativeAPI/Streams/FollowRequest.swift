import ChatCore
import ChatModel
import LongPolling
import HTTPServer
import Locking

/// The parameters that `GET /v1/stream` and `GET /v1/poll` have in common.
struct FollowRequest {
    /// The caller that receives the events. If the request names a user, the caller's user is that user, and the
    /// request follows as a device of the user.
    let caller: Caller
    let selection: Selection
    let groups: GroupSelection?
    /// True when the request makes the user present on the channels.
    let isPresent: Bool
    /// The objects to include with each event.
    let included: Set<IncludedObject>
    /// The position from which to continue, as the client sent it; nil to start with the next event.
    let cursor: String?
    /// True when the cursor comes from `Last-Event-ID`. An EventSource sends this field on every reconnect, even after
    /// an error.
    private let isLastEventID: Bool

    /// The hub's count of audience changes (events that change who may read a channel), read before the user's channels
    /// were looked up. If the hub's count is higher later, the looked-up channels may be outdated.
    let audienceChanges: UInt64

    private static let parameterNames = [
        "channel", "type", "filter", "cursor", "user", "device", "group", "presence", Parameters.include,
    ]
    static let streamParameters = parameterNames + ["ticket"]
    static let pollParameters = parameterNames + ["limit"]

    /// Reads a request. Runs off the loop when the request names channel groups, which may contain thousands of
    /// channels.
    ///
    /// - Throws: `.malformed` and `.forbidden` as `ChatAccess.selection` does.
    nonisolated(nonsending) static func read(
        _ request: Request, _ parameters: Parameters, _ chat: ChatAccess, _ streams: LiveStreams
    ) async throws(ChatError) -> FollowRequest {
        guard !parameters.texts("group").isEmpty else {
            return try await FollowRequest(request, parameters, chat, streams)
        }
        return try await asLongWork { () async throws(ChatError) in
            try await FollowRequest(request, parameters, chat, streams)
        }
    }

    private nonisolated(nonsending) init(
        _ request: Request, _ parameters: Parameters, _ chat: ChatAccess, _ streams: LiveStreams
    ) async throws(ChatError) {
        audienceChanges = try await streams.polls.audienceChanges(in: chat)
        var filter: Filter?
        if let text = try parameters.text("filter") { filter = try Filter(text, limits: chat.limits) }
        groups = try await Self.groups(parameters, streams)
        let cursor = try parameters.streamCursor()
        self.cursor = request.lastEventID ?? cursor
        isLastEventID = request.lastEventID != nil
        isPresent = try parameters.flag("presence")
        included = try parameters.included()
        let device = try parameters.text("device")
        let user = try parameters.text("user") ?? device.flatMap { _ in chat.caller.user }
        let channels = parameters.texts("channel")
        let named = try chat.selection(
            channels: channels, types: parameters.texts("type"), filter: filter, isOfDevice: user != nil)
        guard let user else {
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
            if groups == nil || !channels.isEmpty { try await chat.requireAccess(named) }
            caller = chat.caller
            selection = if let groups { try await chat.selection(of: groups, like: named) } else { named }
            return
        }
        let asked =
            if let groups { try await chat.selection(of: groups, like: named, isOfDevice: true) } else { named }
        selection = try await chat.selection(asked, heardBy: user, on: device)
        var caller = chat.caller
        caller.user = user
        self.caller = caller
    }

    /// The position at which the client starts. An invalid last id, such as the id of another gateway, results in a gap
    /// instead of an error. An error would stop an EventSource permanently, because an EventSource cannot discard its
    /// last id (WHATWG HTML, 9.2.3).
    nonisolated(nonsending) func resumption(
        in chat: ChatAccess, at cursor: String
    ) async throws(ChatError) -> ResumePosition {
        try await chat.resume(selection, at: cursor, orFromNow: isLastEventID)
    }

    private nonisolated(nonsending) static func groups(
        _ parameters: Parameters, _ streams: LiveStreams
    ) async throws(ChatError) -> GroupSelection? {
        let names = parameters.texts("group")
        guard !names.isEmpty else { return nil }
        guard names.count <= LiveStreams.mostGroups else {
            throw Parameters.bad("group", "may be given at most \(LiveStreams.mostGroups) times", keyword: "repeated")
        }
        for name in names { try Names.check(group: name) }
        return GroupSelection(
            names: names, channels: parameters.texts("channel"), version: try await streams.polls.groups.version())
    }
}
