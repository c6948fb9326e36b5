import ChatCore
import ChatModel
import HTTPServer
import JSON
import Webhooks

extension NativeAPI {
    /// `GET /v1/deliveries`: returns a page of the app's deliveries. The page can be filtered by subscriber, status,
    /// event, type and channel.
    func getDeliveries(_ request: Request, _ caller: Caller) async throws -> Response {
        try OtherNames.ofDeliveryList.refuse(in: request.query)
        let parameters = try Parameters(
            request.query, known: ["subscriber", "status", "event", "type", "channel"] + Listing.timedNames)
        var query = Deliveries.Query(try Listing(parameters, of: request, limits: limits).list)
        query.subscriber = try parameters.text("subscriber")
        query.statuses = try parameters.words("status")
        query.event = try event(parameters)
        query.types = try Self.patterns("type", parameters)
        query.channels = try Self.patterns("channel", parameters)
        let page = try await webhooks.deliveries.list(query, by: caller)
        return Listing.response(page, to: request) { $0.print(to: &$1) }
    }

    /// `GET /v1/deliveries/{id}`: returns a delivery with all its attempts.
    func getDelivery(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let found = try await webhooks.deliveries.delivery(request.name("id"), by: caller)
        return .json(JSONText(capacity: 1024) { found.delivery.print(to: &$0, attempts: found.attempts) }.bytes)
    }

    /// `POST /v1/deliveries/{id}/retry`: schedules another attempt of a delivery. Returns the delivery with status 202.
    func retryDelivery(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let delivery = try await webhooks.deliveries.retry(request.name("id"), by: caller)
        return .json(JSONText { delivery.print(to: &$0) }.bytes, status: 202)
    }

    private func event(_ parameters: Parameters) throws(ChatError) -> Timetoken? {
        guard let id = try parameters.text("event") else { return nil }
        guard let timetoken = Timetoken(ofEvent: id) else {
            throw Parameters.bad("event", "must be an event id, evt_…, or the event's timetoken")
        }
        return timetoken
    }
}
