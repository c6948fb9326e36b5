import ChatCore
import ChatModel
import HTTPServer
import JSON

/// Parses and prints the rate policies of API keys and apps. `rate_limit` limits requests, and `event_quota` limits
/// events. A policy is a `quantity` per `window_seconds`.
extension RatePolicies {
    static let memberNames = ["rate_limit", "event_quota"]
    private static let quantities = 1...1_000_000_000_000
    private static let windows = 1...31 * 24 * 3600

    /// Parses the policies in the body of a request. An absent member keeps its former policy; `null` removes the
    /// policy.
    ///
    /// - Parameter former: the policies before the request.
    init(_ fields: Fields, former: RatePolicies = RatePolicies()) throws(ChatError) {
        self = former
        if fields.has("rate_limit") { requests = try Self.policy("rate_limit", fields) }
        if fields.has("event_quota") { events = try Self.policy("event_quota", fields) }
    }

    private static func policy(_ name: String, _ fields: Fields) throws(ChatError) -> RatePolicy? {
        guard let policy = try fields.object(name, known: ["quantity", "window_seconds"]) else { return nil }
        let quantity = try policy.required("quantity", try policy.integer("quantity", in: quantities))
        let window = try policy.required("window_seconds", try policy.integer("window_seconds", in: windows))
        return RatePolicy(quantity, in: .seconds(window))
    }

    func print(to writer: inout JSONWriter) {
        writer.key("rate_limit")
        if let requests { writer.raw(requests.text) } else { writer.null() }
        writer.key("event_quota")
        if let events { writer.raw(events.text) } else { writer.null() }
    }
}

extension NativeAPI {
    /// Returns the response with the fields `RateLimit` and `RateLimit-Policy`, if the caller has rate limits. The
    /// response of a stream does not get these fields.
    func metered(_ response: Response, by meters: RateMeters?) -> Response {
        guard let meters else { return response }
        // The header of a stream's response is built elsewhere, and the stream's cost is unknown until it ends.
        if case .stream = response.body { return response }
        var response = response
        response.headers += fields(of: meters)
        return response
    }

    /// Returns the error with the fields `RateLimit` and `RateLimit-Policy`, if it is a problem.
    func limited(_ error: any Error, by meters: RateMeters) -> any Error {
        guard var problem = error as? Problem else { return error }
        problem.headers += fields(of: meters)
        return problem
    }

    /// The fields `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers).
    private func fields(of meters: RateMeters) -> [(name: String, value: String)] {
        let states = meters.states(at: service.clock.now)
        let policies = states.map { "\"\($0.name)\";q=\($0.policy.quantity);w=\($0.policy.window.components.seconds)" }
        let left = states.map { "\"\($0.name)\";r=\($0.left);t=\($0.full)" }
        return [
            ("RateLimit-Policy", policies.joined(separator: ", ")), ("RateLimit", left.joined(separator: ", ")),
        ]
    }
}
