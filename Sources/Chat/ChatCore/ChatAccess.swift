public import ChatModel

/// One app as one caller may use it: every verb checks the caller's rights, then does its work.
///
/// A value; make one per request with `ChatService.chat(for:)`.
public struct ChatAccess: Sendable {
    public let service: ChatService
    public let caller: Caller

    init(service: ChatService, caller: Caller) {
        self.service = service
        self.caller = caller
    }

    public var space: SpaceID { caller.space }
    public var limits: Limits { service.limits }
    var log: any EventLog { service.engine.log }

    func channel(_ name: String) -> ChannelID { ChannelID(name, in: space) }
}
