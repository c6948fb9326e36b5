import ChatModel
public import HTTPClient
public import Signing

/// What a deployment decides about outbound delivery.
public struct WebhookOptions: Sendable {
    /// Checks a URL when it is registered; the client's guard checks the address of every connection.
    public var addressGuard: AddressGuard
    /// `user-agent` of every delivery: product and version.
    public var userAgent: String
    /// Where ids and secrets come from.
    public var random: any RandomSource
    /// The address the world knows this gateway by, without a slash at its end; empty when it is unknown.
    public var publicURL = ""
    /// Formats beside those that are always there, by the name webhooks choose them by.
    public var formats: [String: any WebhookFormat] = [:]
    /// What is demanded of receivers whose webhook does not say it.
    public var verification = WebhookVerification.none
    /// Numbers in 0..<1 that spread retries.
    public var draw: @Sendable () -> Double
    /// How long the sender waits for deliveries before it asks again. Tests that move the clock shorten it.
    var takeWait: Duration = .seconds(20)
    /// Between two attempts to set a lane that the store refuses.
    var settlePause: Duration = .seconds(1)
    /// How long jobs rest when none may go on. Tests that move the clock shorten it.
    var jobPause: Duration = .milliseconds(200)
    /// How long a delivery rests that could not be sent for want of something of the gateway's. Tests shorten it.
    var shortagePause: Duration = .seconds(2)
    /// Bytes of posts of several events under way at once. Tests lower it.
    var batchBytes = 256 * 1024 * 1024
    /// Told of each attempt once everything that follows from it is done. For tests.
    var observe: (@Sendable (Delivery, DeliveryState.Decision) -> Void)?

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

    /// Our name in DNS, which receivers consent to.
    var origin: String {
        let name = publicURL.split(separator: "/", omittingEmptySubsequences: true).dropFirst().first ?? ""
        return name.isEmpty ? "parley" : String(name)
    }

    /// Whether and how the receiver of a webhook has to consent.
    func demands(of settings: WebhookSettings) -> WebhookVerification { settings.verification ?? verification }
}
