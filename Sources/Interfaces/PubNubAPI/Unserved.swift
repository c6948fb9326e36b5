import ChatModel
import HTTPServer
import JSON

/// Services of PubNub's that are none of this gateway's: their calls are refused in words that SDKs understand.
extension PubNubAPI {
    func addUnservedRoutes(to router: inout Router) {
        for method in [HTTPMethod.get, .post, .delete] {
            add(
                method, "/v1/files/{s}/channels/{rest*}", .collected(limit: limits.emitBodyBytes),
                in: .generic("Files"),
                to: &router
            ) { _ in Self.noFiles }
        }
        for pattern in ["/v1/push/sub-key/{s}/devices/{rest*}", "/v2/push/sub-key/{s}/devices-apns2/{rest*}"] {
            add(.get, RoutePattern(pattern), in: .generic("Push"), to: &router) { _ in Self.noPush }
        }
    }

    private static var noFiles: Response {
        .wire(402) { writer in
            writer.beginObject()
            writer.member("status", 402)
            writer.key("error")
            writer.beginObject()
            writer.member("message", "Files service not enabled for subkey")
            writer.member("source", "Files")
            writer.member("code", 3005)
            writer.endObject()
            writer.endObject()
        }
    }

    private static var noPush: Response {
        .wire(403) { writer in
            writer.beginObject()
            writer.member(
                "error",
                "Use of the mobile push notifications API requires Push Notifications which is not enabled for this subscribe key."
            )
            writer.endObject()
        }
    }
}
