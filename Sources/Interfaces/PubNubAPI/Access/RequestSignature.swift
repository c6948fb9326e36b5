import ChatCore
import ChatModel
import HTTPServer
import Signing
import Text

/// The signature of a request with an app's secret key. A signed request has all permissions.
enum RequestSignature {
    /// The maximum difference between the clocks of the signer and the gateway, in seconds.
    private static let tolerance: UInt64 = 60
    private static let prefix = "v2."

    /// Checks a request's signature. Returns true when the signature is valid, false when it is not valid, and nil when
    /// the request has no signature.
    static func check(_ request: WireRequest, of app: AppRecord, at now: Timetoken) -> Bool? {
        guard let signature = request["signature"] else { return nil }
        let second = now.rawValue / Timetoken.ticksPerSecond
        guard let timestamp = request["timestamp"].flatMap({ UInt64($0) }),
            max(timestamp, second) - min(timestamp, second) <= tolerance
        else { return false }
        let given = Array(signature.replacing("=", with: "").utf8)
        let formats = formats(of: request, isNew: signature.hasPrefix(prefix))
        return app.secrets(at: now).contains { secret in
            formats.contains { format in
                let expected = text(request, app, Secret(text: secret.key), format)
                return constantTimeEqual(given, Array(expected.replacing("=", with: "").utf8))
            }
        }
    }

    /// The parts of a request that a signature covers in addition to the path, the query and the publish key.
    private enum Format {
        /// The current format. Covers the method and the body.
        case complete
        /// The current format for a request that is signed as a GET with an empty body. Accepted even if the request
        /// has another method or a body.
        case bodiless
        /// The format without the prefix `v2.`. Covers the subscribe key, but neither the method nor the body.
        case old
    }

    /// The signature formats that are accepted for a request. A format that does not cover the body is accepted only
    /// for a publish by POST, because some clients sign it in this format.
    private static func formats(of request: WireRequest, isNew: Bool) -> [Format] {
        let isPost = request.request.method == .post && request.request.path.hasPrefix("/publish/")
        guard isNew else { return isPost ? [.old] : [] }
        // JavaScript SDKs sign a publish by POST as if it were a GET. The path of a publish by GET contains the
        // payload, and the signature of that path must not be valid for a request with another payload in the body.
        return isPost && request.segment(6) == nil ? [.complete, .bodiless] : [.complete]
    }

    private static func text(_ request: WireRequest, _ app: AppRecord, _ secret: Secret, _ format: Format) -> String {
        let tail = "\(app.publishKey)\n\(request.request.path)\n\(canonicalQuery(request))"
        let input =
            switch format {
            case .complete: Array("\(request.request.method.rawValue)\n\(tail)\n".utf8) + request.body
            case .bodiless: Array("GET\n\(tail)\n".utf8)
            case .old: Array("\(app.subscribeKey)\n\(tail)".utf8)
            }
        let code = MessageAuthentication.code(.sha256, of: input, key: secret)
        return (format == .old ? "" : prefix) + Base64.encodeURL(code)
    }

    /// All query parameters except the signature, sorted by name.
    private static func canonicalQuery(_ request: WireRequest) -> String {
        request.request.query.items.filter { $0.name != "signature" }
            .sorted { ExactText($0.name) < ExactText($1.name) }
            .map { "\($0.name)=\(PercentEncoding.encode($0.value, keeping: .unreservedWithoutTilde))" }.joined(
                separator: "&")
    }
}
