import ChatCore
import ChatModel
import HTTPClient
import Signing

/// Collects the posts of attempts that begin at the same time, and the attempts that failed before a post could be
/// made.
struct PostRun {
    /// A post that is being sent, without its body, which may be large. The HTTP client has the body.
    struct Post: Sendable {
        /// The deliveries that the post contains.
        let deliveries: [PreparedDelivery]
        /// The plan from which the post was made.
        let plan: PostPlan
        let start: Timetoken
        let headers: [OutboundRequest.Field]

        /// The number that identifies the attempt to which the post belongs.
        var attempt: UInt64 { deliveries[0].lease.attempt }
    }

    let start: Timetoken
    private(set) var requests: [OutboundRequest] = []
    /// The posts to send. Each post has the same index as its request in `requests`.
    private(set) var posts: [Post] = []
    /// The attempts that failed before a request was made.
    private(set) var unsent: [CompletedAttempt] = []

    /// Creates an empty run.
    ///
    /// - Parameter count: the expected number of attempts.
    init(at start: Timetoken, count: Int = 1) {
        self.start = start
        requests.reserveCapacity(count)
        posts.reserveCapacity(count)
    }

    /// Adds an attempt with one delivery.
    mutating func add(_ one: PreparedDelivery, _ plan: PostPlan) {
        guard !plan.isArray else {
            var composition = PostComposition(plan)
            _ = composition.add(one)  // The first delivery always fits.
            return add(composition)
        }
        do throws(FormatError) {
            let content = try plan.content(of: one)
            post([one.with(content)], content, plan)
        } catch {
            fail([one], error.text, plan)
        }
    }

    /// Adds an attempt: its post, and a failed attempt for each delivery that could not be composed.
    mutating func add(_ composition: PostComposition) {
        for (delivery, detail) in composition.failed { fail([delivery], detail, composition.plan) }
        let (composed, plan) = (composition.composed, composition.plan)
        let contents = composed.compactMap(\.content)
        // A single event that was stored in binary mode, before the webhook had batches, is not put into an array.
        if contents.count == 1, let content = contents.first, !plan.isArray || !content.headers.isEmpty {
            post(composed, content, plan)
        } else if !composed.isEmpty {
            post(composed, PostContent(batch: contents), plan)
        }
    }

    private mutating func post(_ deliveries: [PreparedDelivery], _ content: PostContent, _ plan: PostPlan) {
        guard let first = deliveries.first?.lease.delivery else { return }
        do throws(StandardSigningError) {
            let id = Self.id(of: deliveries)
            let trace = deliveries.lazy.compactMap(\.context).first ?? TraceContext(ofUntraced: id)
            let request = try plan.request(
                content, id: id, attempt: (deliveries.lazy.map(\.lease.delivery.attempts).max() ?? 0) + 1,
                event: plan.isArray ? nil : (first.type, first.channel), at: start,
                // Each attempt is a trace span. The span of an attempt with several events is in the trace of the first
                // event.
                trace: trace.child(Tracer.spanID()))
            requests.append(request)
            posts.append(Post(deliveries: deliveries, plan: plan, start: start, headers: request.headers))
        } catch {
            fail(deliveries, "the request cannot be signed: \(error)", plan)
        }
    }

    private mutating func fail(_ deliveries: [PreparedDelivery], _ detail: String, _ plan: PostPlan) {
        let result = OutboundResult(
            failure: OutboundFailure(
                .requestInvalid, detail: detail, sentence: "No request could be created: \(detail)")
        )
        unsent.append(CompletedAttempt(deliveries: deliveries, plan, start: start, requestHeaders: [], result: result))
    }

    /// The id of a post: the event's id, or for several events a digest of their ids. Equal sets of events have equal
    /// ids.
    private static func id(of deliveries: [PreparedDelivery]) -> String {
        guard deliveries.count > 1 else { return deliveries.first?.lease.delivery.event.eventID ?? "" }
        let ids = deliveries.map(\.lease.delivery.event.eventID)
        return "msg_" + Base64.encodeURL(Array(sha256(Array(ids.joined(separator: " ").utf8)).prefix(16)))
    }
}

extension TraceContext {
    /// The trace context for the posts of an event that is not traced. It is a digest of the `webhook-id`, so that
    /// receivers find all attempts under one trace id. The gateway does not record this trace.
    fileprivate convenience init(ofUntraced id: String) {
        let digest = sha256(Array(id.utf8))
        let (high, low) = digest.withUnsafeBytes {
            ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
        // Zero would not be a valid span id (W3C Trace Context, 3.2.2.4). Each attempt replaces this id.
        self.init(traceID: TraceID(high: high, low: low | 1), spanID: 1, isSampled: false)
    }
}
