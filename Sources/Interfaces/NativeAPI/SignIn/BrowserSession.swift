import ChatCore
import ChatModel
import HTTPServer
import JSON
import Signing

/// What a page shows after it has signed in with an API key, in place of that key: a cookie no script can read.
///
/// Everything is in its text, sealed with the gateway's own key: nothing is stored, a restart ends no session. Its API key is
/// looked up with every request, so that a session ends with it.
struct BrowserSession: Sendable {
    /// A working day; an old cookie that was stolen is worth nothing on the next.
    static let lifetime: Duration = .seconds(12 * 3600)

    var app: AppID
    /// The id of the API key it was made with.
    var key: String
    var expires: Timetoken
}

// MARK: - Text

extension BrowserSession {
    static let sealPurpose = "browser session"
    private static let textBytes = 1024

    func text(sealedBy seal: TextSealer) -> String {
        let body = JSONText { writer in
            writer.beginObject()
            writer.member("app", app.name)
            writer.member("key", key)
            writer.member("exp", expires.description)
            writer.endObject()
        }
        return seal.seal(body.bytes)
    }

    /// Reads a session; nil for anything but one of ours. Says nothing about time.
    init?(text: String, sealedBy seal: TextSealer) {
        guard let json = seal.open(text, mostBytes: Self.textBytes) else { return nil }
        self.init(json: json)
    }

    private init?(json: [UInt8]) {
        // What cannot be read is no session, whatever the reason.
        guard let root = try? JSONDocument(json).root, let app = root["app"]?.string, let key = root["key"]?.string,
            let expires = root["exp"]?.string.flatMap({ Timetoken(text: $0) })
        else { return nil }
        self.init(app: AppID(app), key: key, expires: expires)
    }
}

// MARK: - Cookie

extension BrowserSession {
    /// With encryption the name makes browsers refuse one that another host of the domain has set (RFC 6265bis, 4.1.3.2).
    private static func cookieName(isSecure: Bool) -> String { isSecure ? "__Host-parley" : "parley" }

    /// The value of a request's session cookie.
    ///
    /// - Parameter isSecure: the way is known to be encrypted: then a cookie under the other name is none of ours, and
    ///   another host of the domain may have set it.
    static func cookie(in headers: Headers, isSecure: Bool) -> String? {
        for name in isSecure ? [cookieName(isSecure: true)] : [true, false].map(cookieName) {
            let prefix = name + "="
            for field in headers[all: "Cookie"] {
                for pair in field.split(separator: ";") {
                    let pair = pair.drop(while: { $0 == " " })
                    if pair.hasPrefix(prefix) { return String(pair.dropFirst(prefix.count)) }
                }
            }
        }
        return nil
    }

    /// The field that sets the cookie, or removes it.
    ///
    /// - Parameter text: nil to remove it.
    static func setCookie(_ text: String?, isSecure: Bool) -> (name: String, value: String) {
        let age = text == nil ? 0 : lifetime.components.seconds
        return (
            "Set-Cookie",
            "\(cookieName(isSecure: isSecure))=\(text ?? ""); Path=/; Max-Age=\(age); HttpOnly; SameSite=Strict"
                + (isSecure ? "; Secure" : "")
        )
    }
}
