import ChatModel
import HTTPServer
import JSON

extension PubNubAPI {
    /// `GET /time/0`: an array of one bare integer. Clients ask it whether the service is back, so it asks no store: the
    /// log knows its watermark by heart.
    func getTime() async throws -> Response {
        let now = Self.now(service)
        return .wire { writer in
            writer.beginArray()
            writer.integer(now.rawValue)
            writer.endArray()
        }
    }
}
