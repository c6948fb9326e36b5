// Services whose scheme is a row of a table. What is signed and how it is written: each service's own documentation.

extension HMACScheme {
    /// GitHub: `X-Hub-Signature-256: sha256=<hex>` over the body. No timestamp: only the delivery id tells a replay, and
    /// it is not signed.
    static func github(_ secrets: [Secret]) -> HMACScheme {
        HMACScheme(secrets, signatureHeader: "X-Hub-Signature-256", prefix: "sha256=", idHeader: "X-GitHub-Delivery")
    }

    /// Slack: `X-Slack-Signature: v0=<hex>` over `v0:<timestamp>:<body>`.
    static func slack(_ secrets: [Secret], window: ReplayWindow) -> HMACScheme {
        HMACScheme(
            secrets, signatureHeader: "X-Slack-Signature", prefix: "v0=", template: .slack,
            timestampHeader: "X-Slack-Request-Timestamp", idPointer: "/event_id", window: window)
    }

    /// Shopify: `X-Shopify-Hmac-Sha256: <base64>` over the body.
    static func shopify(_ secrets: [Secret]) -> HMACScheme {
        HMACScheme(
            secrets, signatureHeader: "X-Shopify-Hmac-Sha256", encoding: .base64, idHeader: "X-Shopify-Webhook-Id")
    }

    /// Sendbird: `x-sendbird-signature: <hex>` over the body, the key being the API token.
    static func sendbird(_ secrets: [Secret]) -> HMACScheme {
        HMACScheme(secrets, signatureHeader: "x-sendbird-signature")
    }

    /// Stream: `X-Signature: <hex>` over the body.
    static func stream(_ secrets: [Secret]) -> HMACScheme {
        HMACScheme(secrets, signatureHeader: "X-Signature", idHeader: "X-Webhook-Id")
    }
}
