import ChatModel
import HTTPServer

extension NativeAPI {
    /// `GET /livez`: shows that the process responds. It checks no other component, because restarting the process
    /// would not repair another component.
    func getLiveness(_ request: Request) -> Response {
        .json(.fixed(StaticBytes(#"{"status":"ok"}"#)), headers: [Self.noStore])
    }

    /// `GET /readyz`: checks that an event is written to disk and reaches a subscriber.
    func getReadiness(_ request: Request) async throws -> Response {
        switch await readiness.verdict() {
        case .ready: return .json(Array(#"{"status":"ready"}"#.utf8), headers: [Self.noStore])
        case .notReady(let reason): throw ChatError(.unavailable, reason, slug: "not_ready")
        }
    }
}
