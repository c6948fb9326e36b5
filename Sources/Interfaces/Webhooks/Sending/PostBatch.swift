import ChatModel
import HTTPClient
import Signing

/// Attempts that are begun together.
struct PostBatch {
    let start: Timetoken
    private let userAgent: String
    private(set) var requests: [OutboundRequest] = []
    /// What the requests carry, one for each.
    private(set) var sent: [(lease: Lease, body: [UInt8])] = []
    /// Those that could not be signed: over before they began.
    private(set) var unsent: [Answered] = []
    /// Of the webhook seen last: setting up a key costs as much as signing with it, and mostly the next is for the same.
    private var signer: (id: String, etag: String, signer: StandardSigner)?

    init(at start: Timetoken, userAgent: String) {
        self.start = start
        self.userAgent = userAgent
    }

    mutating func add(_ lease: Lease, to webhook: Webhook, _ body: [UInt8]) {
        let delivery = lease.delivery
        let post = Post(
            webhook: webhook, event: delivery.event, type: delivery.type, channel: delivery.channel, body: body,
            attempt: delivery.attempts + 1)
        do throws(StandardSigningError) {
            requests.append(try post.request(at: start, signer: signer(of: webhook), userAgent: userAgent))
            sent.append((lease, body))
        } catch {
            let result = OutboundResult(failure: .notSigned(error))
            unsent.append(Answered(lease: lease, body: body, start: start, result: result))
        }
    }

    private mutating func signer(of webhook: Webhook) -> StandardSigner {
        if let signer, signer.etag == webhook.etag, signer.id == webhook.id { return signer.signer }
        let new = webhook.signer(at: start)
        signer = (webhook.id, webhook.etag, new)
        return new
    }
}
