import ChatModel
import HTTPServer

extension NativeAPI {
    /// `GET /livez`: the process responds. Checks no other component, because a restart would not fix a full disk.
    func getLiveness(_ request: Request) -> Response {
        .json(Array(#"{"status":"ok"}"#.utf8), headers: [Self.noStore])
    }

    /// `GET /readyz`: an event written now reaches a subscriber.
    func getReadiness(_ request: Request) async throws -> Response {
        switch await readiness.verdict() {
        case .ready: return .json(Array(#"{"status":"ready"}"#.utf8), headers: [Self.noStore])
        case .notReady(let reason): throw ChatError(.unavailable, reason, slug: "not_ready")
        }
    }
}
