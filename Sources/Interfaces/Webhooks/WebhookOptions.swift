import ChatModel
public import HTTPClient
public import Signing

/// The deployment's settings for outbound delivery.
public struct WebhookOptions: Sendable {
    /// Checks a URL when it is registered; the client's guard checks the address of every connection.
    public var addressGuard: AddressGuard
    /// The `user-agent` of every delivery: product and version.
    public var userAgent: String
    /// The source of ids and secrets.
    public var random: any RandomSource
    /// The public address of this gateway, without a slash at its end; empty when it is unknown.
    public var publicURL = ""
    /// Formats in addition to the built-in ones, by the name that webhooks use.
    public var formats: [String: any WebhookFormat] = [:]
    /// The consent required from receivers when the webhook does not set it.
    public var verification = WebhookVerification.none
    /// Returns numbers in 0..<1 that randomize retries.
    public var draw: @Sendable () -> Double
    /// The time that the sender waits for deliveries before it asks again. Tests that move the clock shorten it.
    var leaseWait: Duration = .seconds(20)
    /// The pause between two attempts to set a lane after a failure of the store.
    var laneRetryPause: Duration = .seconds(1)
    /// The pause of jobs when none may run. Tests that move the clock shorten it.
    var jobPause: Duration = .milliseconds(200)
    /// The pause before a delivery that could not be sent because the gateway lacked resources. Tests shorten it.
    var shortagePause: Duration = .seconds(2)
    /// The maximum bytes of batch posts under way. Tests lower it.
    var batchBytes = 256 * 1024 * 1024
    /// Called for each attempt once all its consequences are applied. For tests.
    var observe: (@Sendable (Delivery, DeliveryState.Decision) -> Void)?

    /// Creates options with the defaults for everything else.
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

    /// The gateway's DNS name, to which receivers give their consent.
    var origin: String {
        let name = publicURL.split(separator: "/", omittingEmptySubsequences: true).dropFirst().first ?? ""
        return name.isEmpty ? "parley" : String(name)
    }

    /// The consent required from the receiver of a webhook.
    func verification(of settings: WebhookSettings) -> WebhookVerification { settings.verification ?? verification }
}
