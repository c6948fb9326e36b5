import ChatCore
import ChatModel
import HTTPServer
import Locking

extension NativeAPI {
    /// `POST /v1/events` with CloudEvents in any of the three modes, all or none.
    func postCloudEvents(
        _ form: CloudEventForm, _ request: Request, _ caller: Caller
    ) async throws -> Response {
        guard form == .batch else { return try await answer(form, request, caller) }
        // However short, it may hold hundreds of events.
        return try await asLongWork { try await answer(form, request, caller) }
    }

    private func answer(_ form: CloudEventForm, _ request: Request, _ caller: Caller) async throws -> Response {
        let channel = try Parameters(request.query, known: ["channel", "dry_run"]).text("channel")
        var order = EmitRequest(route: .anyChannel, emissions: [], list: Self.eventList)
        switch form {
        case .foreign:
            throw Problem.unsupportedMediaType(
                MediaType(request.headers["Content-Type"] ?? "").text, "CloudEvents are read in JSON")
        case .binary:
            try demandBody(of: request, within: limits.emitBodyBytes)
            order.emissions = [try CloudEvent(request, limits: limits).emission(channel: channel)]
        case .structured:
            try demandBody(of: request, within: limits.emitBodyBytes)
            let fields = try Fields(request.body.bytes, limits: limits, known: nil)
            order.emissions = [try CloudEvent(fields, limits: limits).emission(channel: channel)]
        case .batch:
            let elements = try BatchElements(request.body.bytes, limits: limits)
            order.shape = .list
            for element in elements {
                let fields = try element.fields(known: nil)
                order.emissions.append(try CloudEvent(fields, limits: limits).emission(channel: channel))
            }
        }
        return try await answer(order, to: request, caller, also: ["channel"])
    }
}
