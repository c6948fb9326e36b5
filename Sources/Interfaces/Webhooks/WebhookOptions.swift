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
    /// Numbers in 0..<1 that spread retries.
    public var draw: @Sendable () -> Double
    /// How long the sender waits for deliveries before it asks again. Tests that move the clock shorten it.
    var takeWait: Duration = .seconds(20)
    /// Between two attempts to set a lane that the store refuses.
    var settlePause: Duration = .seconds(1)
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
}
