import ChatModel
import HTTPClient
import Signing

/// Attempts that are begun together.
struct PostBatch {
    let start: Timetoken
    private let plans: PostPlans
    private(set) var requests: [OutboundRequest] = []
    /// What the requests carry, one element for each.
    private(set) var sent: [[Sent]] = []
    /// Those that could not be made: over before they began.
    private(set) var unsent: [Answered] = []

    init(at start: Timetoken, _ plans: PostPlans) {
        self.start = start
        self.plans = plans
    }

    /// Adds what was leased as one attempt: a post for each, or posts of several where the webhook has batches. A batch that
    /// is longer than its webhook allows, or mixes what was sent in another form before, takes more than one post.
    mutating func add(_ batch: [Sent], to webhook: Webhook) {
        let plan = plans.plan(for: webhook, at: start)
        var composed: [(sent: Sent, content: PostContent)] = []
        for one in batch {
            do throws(FormatObstacle) {
                let content = try plan.content(of: one)
                composed.append((Sent(lease: one.lease, body: one.body, content: content), content))
            } catch {
                fail([one], error.text)
            }
        }
        guard plan.isArray else {
            for (sent, content) in composed { post([sent], content, plan) }
            return
        }
        let most = webhook.settings.batch?.bytes ?? .max
        var first = 0
        var bytes = 0
        for (index, (_, content)) in composed.enumerated() {
            let isOther = content.contentType != composed[first].content.contentType || !content.headers.isEmpty
            if index > first, isOther || bytes + content.body.count > most {
                post(composed[first..<index], plan)
                (first, bytes) = (index, 0)
            }
            bytes += content.body.count + 1
        }
        if first < composed.count { post(composed[first...], plan) }
    }

    private mutating func post(_ group: ArraySlice<(sent: Sent, content: PostContent)>, _ plan: PostPlan) {
        // One event in binary mode from before the webhook had batches: nothing to put into an array.
        if group.count == 1, let (sent, content) = group.first, !content.headers.isEmpty {
            return post([sent], content, plan)
        }
        post(group.map(\.sent), PostContent(batch: group.map(\.content)), plan)
    }

    private mutating func post(_ batch: [Sent], _ content: PostContent, _ plan: PostPlan) {
        let deliveries = batch.lazy.map(\.lease.delivery)
        guard let first = deliveries.first else { return }
        do throws(StandardSigningError) {
            let request = try plan.request(
                content, id: Self.id(of: batch), attempt: (deliveries.map(\.attempts).max() ?? 0) + 1,
                event: plan.isArray ? nil : (first.type, first.channel), at: start)
            requests.append(request)
            sent.append(batch)
        } catch {
            fail(batch, "not signed: \(error)")
        }
    }

    private mutating func fail(_ batch: [Sent], _ detail: String) {
        let result = OutboundResult(failure: OutboundFailure(.requestInvalid, detail: detail))
        unsent.append(Answered(sent: batch, start: start, requestHeaders: [], result: result))
    }

    /// The event's id; of several events a digest of their ids, so that the same set has the same id whenever it is sent.
    private static func id(of batch: [Sent]) -> String {
        let ids = batch.map(\.lease.delivery.event.eventID)
        guard ids.count > 1 else { return ids.first ?? "" }
        return "msg_" + Base64.encodeURL(Array(sha256(Array(ids.joined(separator: " ").utf8)).prefix(16)))
    }
}
