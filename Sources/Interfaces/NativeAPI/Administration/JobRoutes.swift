import ChatCore
import ChatModel
import HTTPServer
import JSON
import Webhooks

extension NativeAPI {
    /// The bounds of a job's rate, in deliveries per second.
    private static let ratesPerSecond = 1...10_000
    private static let narrowingMembers = ["webhook", "after", "before", "types", "channels", "filter"]
    private static let scopeMembers = [
        "only", "after", "before", "types", "channels", "filter", "rate_per_second", "dry_run",
    ]

    /// `POST /v1/webhooks/{id}/replay`: begins a job that sends a webhook's selected deliveries again. Returns the
    /// job's id and the number of deliveries with status 202. A dry run returns only the number.
    func replayWebhook(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        try caller.require(.manage)
        let id = request.name("id")
        let fields = try Fields(
            request.body.bytes, limits: limits, known: Self.scopeMembers + ["since"])
        var scope = try scope(fields, default: .failed)
        scope.webhook = id
        if let since = try fields.string("since") {
            guard since == "last_success" else { throw fields.fault("since", "enum", "must be 'last_success'") }
            guard !fields.has("after") else {
                throw fields.fault("since", "not", "must be left out if 'after' is sent")
            }
            scope.after = try await webhooks.deliveries.lastSuccess(of: id, by: caller)
        }
        return try await begin(.replay, scope, fields, caller)
    }

    /// `POST /v1/deliveries/redrive`: begins a job that retries dead or failed deliveries. Returns the job's id and the
    /// number of deliveries with status 202. A dry run returns only the number.
    func redriveDeliveries(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        try caller.require(.manage)
        let fields = try jobFields(request, known: Self.scopeMembers + ["webhook"])
        var scope = try scope(fields, default: .dead)
        scope.webhook = try fields.string("webhook")
        guard scope.only != .all else {
            throw fields.fault("only", "enum", "must be 'dead' or 'failed'; 'all' is for the replay of one webhook")
        }
        return try await begin(.redrive, scope, fields, caller)
    }

    /// `POST /v1/deliveries/purge`: begins a job that removes dead deliveries. Returns the job's id and the number of
    /// deliveries with status 202. A dry run returns only the number.
    func purgeDeliveries(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        try caller.require(.manage)
        let fields = try jobFields(request, known: Self.scopeMembers.filter { $0 != "only" } + ["webhook", "all"])
        // A purge cannot be undone, and an empty body may be a mistake.
        guard try fields.boolean("all") == true || Self.narrowingMembers.contains(where: { fields.member($0) != nil })
        else {
            throw fields.fault(
                "all", "required",
                "must be true to delete every dead delivery of the app; to delete some, send 'webhook' or another selection"
            )
        }
        var scope = try scope(fields, default: .dead)
        scope.webhook = try fields.string("webhook")
        return try await begin(.purge, scope, fields, caller)
    }

    private func jobFields(_ request: Request, known: [String]) throws -> Fields {
        let fields = try Fields(request.body.bytes, limits: limits, known: nil)
        try OtherNames.ofDeliveryJob.refuse(in: fields)
        try fields.refuseUnknown(known)
        return fields
    }

    /// `GET /v1/jobs`: returns a page of the app's jobs. The page can be filtered by state.
    func getJobs(_ request: Request, _ caller: Caller) async throws -> Response {
        let parameters = try Parameters(request.query, known: Listing.timedNames + ["state"])
        let page = try await webhooks.jobs.list(
            Listing(parameters, of: request, limits: limits).list, states: parameters.words("state"), by: caller)
        return Listing.response(page, to: request) { $0.print(to: &$1) }
    }

    /// `GET /v1/jobs/{id}`: returns a job with its progress.
    func getJob(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        return Self.response(try await webhooks.jobs.job(request.name("id"), by: caller))
    }

    /// `POST /v1/jobs/{id}/pause`: pauses a job and returns the job.
    func pauseJob(_ request: Request, _ caller: Caller) async throws -> Response {
        try await set(.paused, request, caller)
    }

    /// `POST /v1/jobs/{id}/resume`: continues a paused job and returns the job.
    func resumeJob(_ request: Request, _ caller: Caller) async throws -> Response {
        try await set(.running, request, caller)
    }

    /// `POST /v1/jobs/{id}/cancel`: ends a job early and returns the job.
    func cancelJob(_ request: Request, _ caller: Caller) async throws -> Response {
        try await set(.cancelled, request, caller)
    }

    /// `GET /v1/webhooks/{id}/stats`: returns the delivery statistics of a webhook.
    func getWebhookStats(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let stats = try await webhooks.deliveries.stats(of: request.name("id"), by: caller)
        return .json(JSONText(capacity: 1024) { stats.print(to: &$0) }.bytes)
    }

    // MARK: Parsing and responses

    private func scope(_ fields: Fields, default only: DeliveryScope.Only) throws(ChatError) -> DeliveryScope {
        var scope = DeliveryScope(only: only)
        if let word = try fields.string("only") {
            guard let known = DeliveryScope.Only(rawValue: word) else {
                throw fields.fault("only", "enum", "must be 'failed', 'dead' or 'all'")
            }
            scope.only = known
        }
        scope.after = try fields.position("after") ?? scope.after
        scope.before = try fields.position("before") ?? scope.before
        scope.types = try fields.typePatterns("types", most: limits.streamChannels)
        scope.channels = try fields.channelPatterns("channels", most: limits.streamChannels)
        if let text = try fields.string("filter") {
            do throws(ChatError) {
                scope.filter = try Filter(text, limits: limits)
            } catch {
                throw fields.fault("filter", "filter", error.message, slug: error.slug ?? "bad_filter")
            }
        }
        return scope
    }

    private func begin(
        _ kind: DeliveryJob.Kind, _ scope: DeliveryScope, _ fields: Fields, _ caller: Caller
    ) async throws -> Response {
        let rate = try fields.integer("rate_per_second", in: Self.ratesPerSecond)
        if try fields.boolean("dry_run") ?? false {
            let counted = try await webhooks.jobs.count(scope, by: caller)
            return Self.counted(nil, counted.count, counted.isExact, status: 200)
        }
        let job = try await webhooks.jobs.begin(kind, scope, rate: rate, by: caller)
        return Self.counted(
            job.id, job.count, job.isCountExact, status: 202, headers: [("Location", "/v1/jobs/" + job.id)])
    }

    private static func counted(
        _ job: String?, _ count: Int, _ isExact: Bool, status: Int, headers: [(name: String, value: String)] = []
    ) -> Response {
        let body = JSONText { writer in
            writer.beginObject()
            if let job { writer.member("job", job) } else { writer.nullMember("job") }
            writer.member("count", count)
            writer.member("count_is_exact", isExact)
            writer.endObject()
        }
        return .json(body.bytes, status: status, headers: headers)
    }

    private func set(
        _ state: DeliveryJob.State, _ request: Request, _ caller: Caller
    ) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        return Self.response(try await webhooks.jobs.set(state, of: request.name("id"), by: caller))
    }

    private static func response(_ job: DeliveryJob) -> Response {
        .json(JSONText(capacity: 512) { job.print(to: &$0) }.bytes)
    }
}
