import ChatModel
import HTTPClient
import Signing

/// Attempts that are begun together.
struct PostBatch {
    let start: Timetoken
    private let userAgent: String
    private(set) var requests: [OutboundRequest] = []
    /// What the requests carry, one element for each.
    private(set) var sent: [[Sent]] = []
    /// Those that could not be signed: over before they began.
    private(set) var unsent: [Answered] = []
    /// Of the webhook seen last: setting up a key costs as much as signing with it, and mostly the next is for the same.
    private var signer: (id: String, etag: String, signer: StandardSigner)?

    init(at start: Timetoken, userAgent: String) {
        self.start = start
        self.userAgent = userAgent
    }

    /// Adds what was leased as one attempt.
    mutating func add(_ batch: [Sent], to webhook: Webhook) {
        for one in batch { add(one, to: webhook) }
    }

    private mutating func add(_ one: Sent, to webhook: Webhook) {
        let delivery = one.lease.delivery
        let post = Post(
            webhook: webhook, event: delivery.event, type: delivery.type, channel: delivery.channel, body: one.body,
            attempt: delivery.attempts + 1)
        do throws(StandardSigningError) {
            requests.append(try post.request(at: start, signer: signer(of: webhook), userAgent: userAgent))
            sent.append([one])
        } catch {
            let result = OutboundResult(failure: .notSigned(error))
            unsent.append(Answered(sent: [one], start: start, requestHeaders: [], result: result))
        }
    }

    private mutating func signer(of webhook: Webhook) -> StandardSigner {
        if let signer, signer.etag == webhook.etag, signer.id == webhook.id { return signer.signer }
        let new = webhook.signer(at: start)
        signer = (webhook.id, webhook.etag, new)
        return new
    }
}
