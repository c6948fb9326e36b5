import ChatCore
import ChatModel
import HTTPServer
import JSON
import Signing

/// A browser session: a cookie that replaces the API key after a page has signed in. Scripts cannot read the cookie.
///
/// The cookie's text contains all of its data, sealed with the gateway's own key. The gateway stores nothing, so a
/// restart ends no session. The API key is looked up on every request, so the session ends when the key is removed or
/// expires.
struct BrowserSession: Sendable {
    /// The lifetime of a session: twelve hours, so that a stolen cookie is useless on the next day.
    static let lifetime: Duration = .seconds(12 * 3600)

    var app: AppID
    /// The id of the API key with which the session was created.
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

    /// Parses a session; nil for a text that the gateway did not create. Does not check the expiry.
    init?(text: String, sealedBy seal: TextSealer) {
        guard let json = seal.open(text, mostBytes: Self.textBytes) else { return nil }
        self.init(json: json)
    }

    private init?(json: [UInt8]) {
        // A text that cannot be parsed is not a session.
        guard let root = try? JSONDocument(json).root, let app = root["app"]?.string, let key = root["key"]?.string,
            let expires = root["exp"]?.string.flatMap({ Timetoken(text: $0) })
        else { return nil }
        self.init(app: AppID(app), key: key, expires: expires)
    }
}

// MARK: - Cookie

extension BrowserSession {
    /// The name of the cookie. On an encrypted connection the name begins with `__Host-`. This prefix makes browsers
    /// reject a cookie that another host of the domain has set (RFC 6265bis, 4.1.3.2).
    private static func cookieName(isSecure: Bool) -> String { isSecure ? "__Host-parley" : "parley" }

    /// The value of a request's session cookie; nil without the cookie.
    ///
    /// - Parameter isSecure: true when the connection is known to be encrypted. The name for connections without
    ///   encryption is then ignored, because another host of the domain may have set that cookie.
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

    /// The header field that sets or removes the cookie.
    ///
    /// - Parameter text: the value of the cookie; nil to remove the cookie.
    static func setCookie(_ text: String?, isSecure: Bool) -> (name: String, value: String) {
        let age = text == nil ? 0 : lifetime.components.seconds
        return (
            "Set-Cookie",
            "\(cookieName(isSecure: isSecure))=\(text ?? ""); Path=/; Max-Age=\(age); HttpOnly; SameSite=Strict"
                + (isSecure ? "; Secure" : "")
        )
    }
}
