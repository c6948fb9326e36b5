@testable public import HTTPServer

extension Router {
    /// Returns the response of a server with these routes, without a socket. It omits what belongs to the wire
    /// (decompression, the missing body of `HEAD`). A streamed route receives the request's body as one piece.
    public func respond(to request: Request) async -> Response {
        let router = RequestRouter(self)
        let match = request.head.withPath { router.match(method: request.method, path: $0, headers: request.headers) }
        var response = await router.answer(request, match)
        router.finish(&response, to: request.head, plan: match.plan)
        response.headers.append(("X-Request-Id", request.id))
        response.headers.append(("X-Content-Type-Options", "nosniff"))
        return response
    }

}

extension RequestRouter {
    fileprivate func answer(_ request: Request, _ match: RouteMatch) async -> Response {
        let plan = match.plan
        var matched = match.request(request.head, request.query, request.body)
        matched.annotations = request.annotations
        do {
            guard request.body.bytes.count <= plan.bodyPolicy.limit else {
                match.recordTooLarge(request.head, request.query)
                throw Problem.bodyTooLong(limit: plan.bodyPolicy.limit)
            }
            return try await plan.handler.respond(to: matched)
        } catch {
            let problem = error as? Problem ?? .internalError
            return answer(to: problem, plan: plan, requestID: request.id)
        }
    }
}
