import ChatCore
import ChatModel
import HTTPServer
import Signing

/// A request that was signed with an app's secret key (`pubnub-wire.md` 17.4): such a one may do everything.
enum RequestSignature {
    /// How far a signer's clock may be from ours, in seconds.
    private static let tolerance: UInt64 = 60
    private static let prefix = "v2."

    /// Nil for a request without a signature; else whether it is right.
    static func check(_ request: WireRequest, of app: AppRecord, at now: Timetoken) -> Bool? {
        guard let signature = request["signature"] else { return nil }
        let second = now.rawValue / Timetoken.ticksPerSecond
        guard let timestamp = request["timestamp"].flatMap({ UInt64($0) }),
            max(timestamp, second) - min(timestamp, second) <= tolerance
        else { return false }
        let isNew = signature.hasPrefix(prefix)
        // The older form covers neither method nor body: good for what clients sign so, and not for another call of that path.
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

    /// All parameters but the signature, in the order of their names.
    private static func canonicalQuery(_ request: WireRequest) -> String {
        request.request.query.items.filter { $0.name != "signature" }
            .sorted { ExactText($0.name) < ExactText($1.name) }
            .map { "\($0.name)=\(PercentName.encode($0.value, sparesTilde: false))" }.joined(separator: "&")
    }
}
