public import ChatModel

/// One app as one caller may use it: every verb checks the caller's rights, then does its work.
///
/// A value; make one per request with `ChatService.chat(for:)`.
public struct ChatAccess: Sendable {
    public let service: ChatService
    public let caller: Caller
    /// The device the request came from, if it named one: its own streams are spared what it did itself
    /// (`sendbird.md` 1.2).
    public var device: String?
    /// What the events of one call share: the request's id.
    public var cause: String?
    /// Whether events show what messages said that are marked as deleted: for clients that judge by the mark themselves.
    public var showsDeletedTexts = false
    /// Nobody is told of what is changed: for records that are moved here from elsewhere.
    var isQuiet = false

    init(service: ChatService, caller: Caller) {
        self.service = service
        self.caller = caller
    }

    public var app: AppID { caller.app }
    public var limits: Limits { service.limits }
    var log: any EventLog { service.engine.log }
    var directory: any Directory { service.engine.directory }

    func channel(_ name: String) -> ChannelID { ChannelID(name, in: app) }
}
