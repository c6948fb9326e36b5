import ChatModel
import HTTPServer

extension NativeAPI {
    /// `GET /livez`: shows that the process responds. It checks no other component, because a restart of the
    /// process would not help.
    func getLiveness(_ request: Request) -> Response {
        .json(Array(#"{"status":"ok"}"#.utf8), headers: [Self.noStore])
    }

    /// `GET /readyz`: checks that an event written now reaches a subscriber.
    func getReadiness(_ request: Request) async throws -> Response {
        switch await readiness.verdict() {
        case .ready: return .json(Array(#"{"status":"ready"}"#.utf8), headers: [Self.noStore])
        case .notReady(let reason): throw ChatError(.unavailable, reason, slug: "not_ready")
        }
    }
}
