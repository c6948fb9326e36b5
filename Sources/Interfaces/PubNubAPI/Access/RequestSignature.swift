import ChatCore
import ChatModel
import HTTPServer
import Signing
import Text

/// The signature of a request with an app's secret key. A signed request may do everything.
enum RequestSignature {
    /// Largest difference between the signer's clock and the server's, in seconds.
    private static let tolerance: UInt64 = 60
    private static let prefix = "v2."

    /// Returns true for a valid signature, false for an invalid one, and nil for a request without a signature.
    static func check(_ request: WireRequest, of app: AppRecord, at now: Timetoken) -> Bool? {
        guard let signature = request["signature"] else { return nil }
        let second = now.rawValue / Timetoken.ticksPerSecond
        guard let timestamp = request["timestamp"].flatMap({ UInt64($0) }),
            max(timestamp, second) - min(timestamp, second) <= tolerance
        else { return false }
        let isNew = signature.hasPrefix(prefix)
        // The old format covers neither method nor body. It is accepted only for the publish requests that clients sign
        // with it, so that the signature cannot be used for another call with the same path.
        guard isNew || request.request.method == .post && request.request.path.hasPrefix("/publish/") else {
            return false
        }
        let given = Array(signature.replacing("=", with: "").utf8)
        return app.secrets(at: now).contains { secret in
            let expected = text(request, app, Secret(text: secret.key), isNew: isNew)
            return constantTimeEqual(given, Array(expected.replacing("=", with: "").utf8))
        }
    }

    private static func text(_ request: WireRequest, _ app: AppRecord, _ secret: Secret, isNew: Bool) -> String {
        let query = canonicalQuery(request)
        let input: [UInt8]
        if isNew {
            let head = "\(request.request.method.rawValue)\n\(app.publishKey)\n\(request.request.path)\n\(query)\n"
            input = Array(head.utf8) + request.body
        } else {
            input = Array("\(app.subscribeKey)\n\(app.publishKey)\n\(request.request.path)\n\(query)".utf8)
        }
        let code = MessageAuthentication.code(.sha256, of: input, key: secret)
        return (isNew ? prefix : "") + Base64.encodeURL(code)
    }

    /// All query parameters except the signature, sorted by name.
    private static func canonicalQuery(_ request: WireRequest) -> String {
        request.request.query.items.filter { $0.name != "signature" }
            .sorted { ExactText($0.name) < ExactText($1.name) }
            .map { "\($0.name)=\(PercentEncoding.encode($0.value, keeping: .unreservedWithoutTilde))" }.joined(
                separator: "&")
    }
}
