import ChatModel
public import HTTPClient
public import Signing

/// The settings of the gateway for outbound delivery.
public struct WebhookOptions: Sendable {
    /// Checks a webhook's URL when it is registered. The HTTP client's guard checks the address of every connection.
    public var addressGuard: AddressGuard
    /// The `user-agent` of every delivery: product and version.
    public var userAgent: String
    /// The source of ids and secrets.
    public var random: any RandomSource
    /// The public address of this gateway, without a slash at its end; empty when it is unknown.
    public var publicURL = ""
    /// Formats in addition to the built-in formats, by the names that webhooks use.
    public var formats: [String: any WebhookFormat] = [:]
    /// The consent that a receiver must give if the webhook's settings do not state a consent.
    public var verification = WebhookVerification.none
    /// Returns random numbers in 0..<1, which spread retries over time.
    public var draw: @Sendable () -> Double
    /// The time for which the sender waits for due deliveries before it asks the queue again. Tests that move the clock
    /// shorten this time.
    var leaseWait: Duration = .seconds(20)
    /// The pause before a lane (the queue of one subscriber) is set again after a failure of the store.
    var laneRetryPause: Duration = .seconds(1)
    /// The pause of the job runner while no job has a step due. Tests that move the clock shorten this pause.
    var jobPause: Duration = .milliseconds(200)
    /// The pause before repeating an attempt that failed because the gateway lacked memory or descriptors. Tests
    /// shorten this pause.
    var shortagePause: Duration = .seconds(2)
    /// The maximum total size, in bytes, of the posts with several events that are being sent. Tests lower this limit.
    var batchBytes = 256 * 1024 * 1024
    /// Called for each delivery of a recorded attempt, after the state of the webhook was updated; nil to call nothing.
    /// For tests.
    var observe: (@Sendable (Delivery, DeliveryState.Decision) -> Void)?

    /// Creates options with defaults for all other members.
    public init(
        addressGuard: AddressGuard = AddressGuard(), userAgent: String = "Parley",
        random: any RandomSource = SystemRandomSource(),
        draw: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.addressGuard = addressGuard
        self.userAgent = userAgent
        self.random = random
        self.draw = draw
    }

    /// The host and port of the gateway's public URL, or `parley` when no public URL is set. Receivers give their
    /// consent to this name.
    var origin: String {
        let name = publicURL.split(separator: "/", omittingEmptySubsequences: true).dropFirst().first ?? ""
        return name.isEmpty ? "parley" : String(name)
    }

    /// The consent that the receiver of a webhook must give.
    func verification(of settings: WebhookSettings) -> WebhookVerification { settings.verification ?? verification }
}
