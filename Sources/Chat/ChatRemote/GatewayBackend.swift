public import ChatKit
public import ChatModel
import JSON

/// A chat on a gateway, over its native API.
public struct GatewayBackend: ChatBackend {
    public let user: String
    let gateway: GatewayConnection
    let device = Device.fresh()

    /// - Parameter url: `http://host:port` or `https://host`, with a path when the gateway stands under one.
    public init(url: String, key: String, user: String) throws(ChatError) {
        try Names.check(user: user)
        self.user = user
        gateway = try GatewayConnection(url: url, key: key)
    }

    private init(_ gateway: GatewayConnection, user: String) {
        self.gateway = gateway
        self.user = user
    }

    public func acting(as user: String) -> any ChatBackend { GatewayBackend(gateway, user: user) }

    public func close() async { await gateway.close() }

    func send(_ call: Call) async throws(ChatError) -> Answer {
        var call = call
        call.device = device
        return try await gateway.send(call)
    }

    /// A call in the name of the backend's user.
    func by(_ path: RequestPath) -> RequestPath { path.adding("by", user) }

    /// Members, and who acts.
    func body(_ print: (inout JSONWriter) -> Void) -> JSONText {
        JSONText { writer in
            writer.beginObject()
            print(&writer)
            writer.member("by", user)
            writer.endObject()
        }
    }
}
