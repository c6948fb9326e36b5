import ChatCore
import ChatModel
import Following
import HTTPServer
import Locking

/// What `GET /v1/stream` and `GET /v1/poll` have in common.
struct FollowRequest {
    /// Who follows: with a user it is that user's device, whatever credential opened it.
    let caller: Caller
    let selection: Selection
    let groups: GroupSelection?
    /// Whether the user is present on the channels by it.
    let isPresent: Bool
    /// The objects to hand out beside each event.
    let included: Set<IncludedObject>
    /// As the client sent it; nil when it starts from now.
    let cursor: String?
    /// Whether it is what an EventSource kept, and sends again whatever it is told.
    private let isLastEventID: Bool

    /// How many changes of who may hear there had been before the user was asked for.
    let audienceChanges: UInt64

    static let parameterNames = [
        "channel", "type", "filter", "cursor", "user", "device", "group", "presence", Parameters.include,
    ]

    /// Reads a request; off the loop when it names groups, which may hold thousands of channels.
    ///
    /// - Throws: `.malformed` and `.forbidden` as `ChatAccess.selection` does.
    static func read(
        _ request: Request, _ parameters: Parameters, _ chat: ChatAccess, _ streams: LiveStreams
    ) async throws(ChatError) -> FollowRequest {
        guard !parameters.texts("group").isEmpty else {
            return try await FollowRequest(request, parameters, chat, streams)
        }
        return try await asLongWork { () async throws(ChatError) in
            try await FollowRequest(request, parameters, chat, streams)
        }
    }

    private init(
        _ request: Request, _ parameters: Parameters, _ chat: ChatAccess, _ streams: LiveStreams
    ) async throws(ChatError) {
        audienceChanges = try await streams.polls.audienceChanges(in: chat)
        var filter: Filter?
        if let text = try parameters.text("filter") { filter = try Filter(text, limits: chat.limits) }
        groups = try await Self.groups(parameters, streams)
        let cursor = try parameters.text("cursor")
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
            guard device == nil else { throw Parameters.bad("device", "goes with the user whose device it is: 'user'") }
            guard !isPresent else { throw Parameters.bad("presence", "goes with the user who is present: 'user'") }
            if groups == nil || !channels.isEmpty { try await chat.demandHearing(named) }
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

    /// Where it really starts. The last id of another gateway, or of no gateway at all, is a gap: a refusal would end an
    /// EventSource for good, which cannot forget what it has (WHATWG HTML, 9.2.3).
    func resumption(in chat: ChatAccess, at cursor: String) async throws(ChatError) -> ResumePosition {
        try await chat.resume(selection, at: cursor, orFromNow: isLastEventID)
    }

    private static func groups(
        _ parameters: Parameters, _ streams: LiveStreams
    ) async throws(ChatError) -> GroupSelection? {
        let names = parameters.texts("group")
        guard !names.isEmpty else { return nil }
        guard names.count <= LiveStreams.mostGroups else {
            throw Parameters.bad("group", "may be given \(LiveStreams.mostGroups) times")
        }
        for name in names { try Names.check(group: name) }
        return GroupSelection(
            names: names, channels: parameters.texts("channel"), version: try await streams.polls.groups.version())
    }
}
