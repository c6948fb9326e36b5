import ChatCore
import ChatModel
import HTTPServer
import JSON
import Webhooks

extension NativeAPI {
    /// `GET /v1/deliveries`
    func getDeliveries(_ request: Request, _ caller: Caller) async throws -> Response {
        let parameters = try Parameters(
            request.query, known: ["webhook", "status", "event", "after", "before", "order"] + Listing.parameterNames)
        let listing = try Listing(parameters, of: request, limits: limits)
        let page = try await webhooks.deliveries.list(
            webhook: try parameters.text("webhook"), statuses: try statuses(parameters),
            event: try event(parameters), after: try parameters.position("after"),
            before: try parameters.position("before"), order: try order(parameters), limit: listing.limit,
            cursor: listing.cursor, by: caller)
        return Listing.response(page, to: request) { $0.print(to: &$1) }
    }

    /// `GET /v1/deliveries/{id}`: with every attempt.
    func getDelivery(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let found = try await webhooks.deliveries.delivery(request.name("id"), by: caller)
        return .json(JSONText(capacity: 1024) { found.delivery.print(to: &$0, attempts: found.attempts) }.bytes)
    }

    /// `POST /v1/deliveries/{id}/retry`
    func retryDelivery(_ request: Request, _ caller: Caller) async throws -> Response {
        try Self.refuseContent(request)
        let delivery = try await webhooks.deliveries.retry(request.name("id"), by: caller)
        return .json(JSONText { delivery.print(to: &$0) }.bytes, status: 202)
    }

    private func statuses(_ parameters: Parameters) throws(ChatError) -> Set<DeliveryStatus> {
        var statuses: Set<DeliveryStatus> = []
        for word in parameters.texts("status") {
            guard let status = DeliveryStatus(rawValue: word) else {
                let known = DeliveryStatus.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
                throw Parameters.bad("status", "must be one of \(known)")
            }
            statuses.insert(status)
        }
        return statuses
    }

    private func order(_ parameters: Parameters) throws(ChatError) -> DeliveryQuery.Order {
        switch try parameters.text("order") {
        case nil, "desc": .newestFirst
        case "asc": .oldestFirst
        default: throw Parameters.bad("order", "must be 'asc' or 'desc'")
        }
    }

    private func event(_ parameters: Parameters) throws(ChatError) -> Timetoken? {
        guard let id = try parameters.text("event") else { return nil }
        guard let timetoken = Timetoken(eventID: id) else {
            throw Parameters.bad("event", "must be an event id: evt_…")
        }
        return timetoken
    }
}
