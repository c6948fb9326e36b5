import ChatCore
import ChatModel
import HTTPServer
import Locking
import Logging

/// The middleware of all requests of all APIs: adds the request to a trace and logs it at the level `debug`.
struct RequestMiddleware: Sendable {
    let tracer: Tracer?
    let logger: Logger

    /// Paths that monitoring systems request every few seconds. Requests to them start no trace.
    private static let probes: Set = ["/livez", "/readyz", "/metrics"]

    /// Returns a handler that starts the handler of a route, and traces and logs the request.
    func wrap(_ pattern: RoutePattern, _ handler: Handler) -> Handler {
        Handler(starting: { request in
            let incoming = request.headers["traceparent"].flatMap {
                TraceContext(traceparent: $0, state: request.headers["tracestate"])
            }
            let isLogged = LineLogHandler.logsRequests
            guard isLogged || incoming != nil || tracer != nil else { return try handler.start(request) }
            var annotated = request
            if isLogged { annotated.annotations = RequestAnnotations() }
            return .later { [annotated] in try await observed(annotated, pattern, handler, incoming) }
        })
    }

    /// Runs the handler of a request that is traced or logged.
    private nonisolated(nonsending) func observed(
        _ request: Request, _ pattern: RoutePattern, _ handler: Handler, _ incoming: TraceContext?
    ) async throws -> Response {
        let tracer = incoming == nil && Self.probes.contains(pattern.description) ? nil : tracer
        let context = tracer.map { $0.context(following: incoming) } ?? incoming
        let start = tracer?.now
        do {
            let response = try await TraceContext.$current.withValue(context) {
                try await handler.respond(to: request)
            }
            finish(request, pattern, response.status, context, incoming, start)
            return response
        } catch {
            finish(request, pattern, (error as? Problem)?.status ?? 500, context, incoming, start)
            throw error
        }
    }

    private func finish(
        _ request: Request, _ pattern: RoutePattern, _ status: Int, _ context: TraceContext?,
        _ incoming: TraceContext?, _ start: Timetoken?
    ) {
        if let notes = request.annotations { log(request, pattern, status, notes, context) }
        guard let tracer, let start, let context, context.isSampled else { return }
        let name = "\(request.method.rawValue) \(pattern.description)"
        var span = Span(name, .server, at: context, in: incoming?.spanID, from: start, to: tracer.now)
        span.attributes = [
            ("http.request.method", .text(request.method.rawValue)), ("http.route", .text(pattern.description)),
            ("http.response.status_code", .integer(status)), ("parley.request_id", .text(request.id)),
        ]
        // The span of a server is marked as failed only if the server caused the failure.
        if status >= 500 { span.failure = "\(status)" }
        tracer.record(span)
    }

    /// Logs the route's pattern and not the path, because names of channels and users are private.
    private func log(
        _ request: Request, _ pattern: RoutePattern, _ status: Int, _ notes: RequestAnnotations,
        _ context: TraceContext?
    ) {
        let elapsed = Double(MonotonicTime.now.nanoseconds(since: request.receivedAt)) / 1e6
        var fields: Logger.Metadata = [
            "method": "\(request.method.rawValue)", "route": "\(pattern.description)", "status": "\(status)",
            "duration_ms": "\((elapsed * 1000).rounded() / 1000)", "request": "\(request.id)",
        ]
        if let credential = notes.credential { fields["key"] = "\(credential)" }
        if let context { fields["trace"] = "\(context.traceID)" }
        logger.debug("request", metadata: fields)
    }
}
