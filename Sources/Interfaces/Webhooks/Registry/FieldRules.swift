import ChatModel
import HTTPClient
import JSON

/// The rules for the header fields that the owner of a webhook sets.
enum FieldRules {
    static let count = 20
    static let nameLimitBytes = 128
    static let valueLimitBytes = 4096

    /// The lower-case names of the header fields that an owner may not set: fields that the HTTP client or the protocol
    /// sets, and fields that receivers would attribute to the gateway.
    private static let reserved: Set<String> = [
        "host", "content-length", "content-type", "content-encoding", "transfer-encoding", "connection", "keep-alive",
        "upgrade", "te", "trailer", "expect", "user-agent", "content-digest", "signature", "signature-input",
        "x-hub-signature-256", "stripe-signature", "traceparent", "tracestate",
    ]
    private static let reservedPrefixes = ["webhook-", "proxy-", "ce-"]

    /// The reason why a name is not permitted; nil when it is permitted.
    static func error(name: String) -> String? {
        guard (1...nameLimitBytes).contains(name.utf8.count), name.utf8.allSatisfy(isToken) else {
            return "a header's name must be 1 to \(nameLimitBytes) letters, digits or characters of !#$%&'*+-.^_`|~"
        }
        let lower = name.lowercased()
        guard !reserved.contains(lower), !reservedPrefixes.contains(where: lower.hasPrefix) else {
            return "the gateway sets the header \(lower) itself; leave it out"
        }
        return nil
    }

    /// The reason why a value is not permitted; nil when it is permitted. CR, LF and NUL are not permitted, because
    /// they would end the field and begin another field.
    static func error(value: String) -> String? {
        guard value.utf8.count <= valueLimitBytes, value.utf8.allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0x09 })
        else { return "a header's value must be at most \(valueLimitBytes) printable ASCII characters" }
        guard value.utf8.first != 0x20, value.utf8.first != 0x09, value.utf8.last != 0x20, value.utf8.last != 0x09
        else { return "a header's value must not begin or end with a space" }
        return nil
    }

    /// Returns true for a character of a token (RFC 9110, 5.6.2).
    private static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}

/// The members that contain secrets. The API prints these members without the secrets. A client can send the printed
/// form back: secrets that are absent keep their stored values.
extension WebhookSettingsReader {
    static let secretBytes = 1...8192

    /// Reads a member that contains secrets. Returns false for any other member.
    mutating func readCredentials(_ name: String) throws(ChatError) -> Bool {
        switch name {
        case "headers": try readHeaders()
        case "auth": try readAuth()
        case "tls": try readTLS()
        default: return false
        }
        return true
    }

    /// Reports an error when the webhook would send stored secrets to the new origin of a changed URL. A request that
    /// changes the origin must also set or remove the secrets. The API never returns secrets, and without this check, a
    /// caller could read them by changing the URL to its own server.
    mutating func checkSecrets(movedFrom former: String) {
        guard Self.origin(of: former) != Self.origin(of: settings.url) else { return }
        let remedy = "'url' now has another origin; send the value again together with 'url', or null to remove it"
        for field in settings.headers where !headersWithValue.contains(field.name.lowercased()) {
            fault(
                "headers/\(field.name)", "required", "the value was set for another receiver: \(remedy)",
                slug: "member_missing")
        }
        if settings.auth != nil, !hasAuthSecrets {
            fault(
                "auth", "required", "the secret was set for another receiver: \(remedy)",
                slug: "member_missing")
        }
    }

    /// The scheme, host and port of a URL. A default port is left out.
    private static func origin(of url: String) -> String {
        let lower = url.lowercased()
        guard let mark = lower.firstRange(of: "://") else { return lower }
        let scheme = lower[..<mark.lowerBound]
        let authority = lower[mark.upperBound...].prefix { !"/?#\\".contains($0) }
        let port = scheme == "https" ? ":443" : ":80"
        return scheme + "://" + (authority.hasSuffix(port) ? authority.dropLast(port.count) : authority)
    }

    // MARK: Headers

    /// Reads an object `{"X-Name": "value"}`, in which null removes a field and absent fields are kept. Also reads an
    /// array of names, as in the printed form. The named fields are then kept, and all others are removed.
    private mutating func readHeaders() throws(ChatError) {
        guard let value = fields.member("headers") else {
            settings.headers = []
            return
        }
        if value.kind == .array {
            try keepHeaders(try fields.strings("headers") ?? [])
            return
        }
        guard let headers = try fields.object("headers", known: nil) else { return }
        for member in headers.members { try readHeader(member.name, headers) }
        guard settings.headers.count <= FieldRules.count else {
            throw fields.fault("headers", "count", "'headers' may contain at most \(FieldRules.count) header fields")
        }
    }

    private mutating func keepHeaders(_ names: [String]) throws(ChatError) {
        let lower = names.map { $0.lowercased() }
        for (index, name) in lower.enumerated()
        where !settings.headers.contains(where: { $0.name.lowercased() == name }) {
            throw fields.fault(
                "headers/\(index)", "unknown", "the webhook has no such header; set one with {\"name\": \"value\"}",
                slug: "unknown_member")
        }
        settings.headers.removeAll { !lower.contains($0.name.lowercased()) }
    }

    private mutating func readHeader(_ name: String, _ headers: Fields) throws(ChatError) {
        let former = settings.headers.count
        settings.headers.removeAll { $0.name.lowercased() == name.lowercased() }
        let text = try headers.string(name)
        // A stored field whose name has become reserved can still be removed.
        if text == nil, settings.headers.count < former { return }
        if let obstacle = FieldRules.error(name: name) { throw headers.fault(name, "name", obstacle) }
        guard let text else { return }
        if let obstacle = FieldRules.error(value: text) { throw headers.fault(name, "value", obstacle) }
        settings.headers.append(HeaderField(name, text))
        headersWithValue.insert(name.lowercased())
    }

    // MARK: Auth

    private mutating func readAuth() throws(ChatError) {
        guard let auth = try fields.object("auth", known: nil) else {
            settings.auth = nil
            return
        }
        hasAuthSecrets = true
        let kind = try auth.choice("type", ["basic", "bearer", "oauth2"].map { ($0, $0) })
        switch try auth.required("type", kind) {
        case "basic": try readBasic(auth)
        case "bearer": try readBearer(auth)
        default: try readOAuth2(auth)
        }
    }

    private mutating func readBasic(_ auth: Fields) throws(ChatError) {
        try auth.refuseUnknown(["type", "username", "password"])
        var known: (user: String, password: String)?
        if case .basic(let user, let password) = settings.auth { known = (user, password) }
        let given = try secret("password", auth)
        let user = try required("username", auth, try secret("username", auth), or: known?.user)
        // A stored password is kept only for the user name with which it was set.
        let kept = user == known?.user ? known?.password : nil
        let password = try required("password", auth, given, or: kept)
        guard !user.contains(":") else {
            throw auth.fault(
                "username", "value",
                "must not contain a colon, which HTTP basic authentication does not allow (RFC 7617)")
        }
        settings.auth = .basic(user: user, password: password)
    }

    private mutating func readBearer(_ auth: Fields) throws(ChatError) {
        try auth.refuseUnknown(["type", "token"])
        var known: String?
        if case .bearer(let token) = settings.auth { known = token }
        let token = try required("token", auth, try secret("token", auth), or: known)
        if let obstacle = FieldRules.error(value: token) { throw auth.fault("token", "value", obstacle) }
        settings.auth = .bearer(token: token)
    }

    private mutating func readOAuth2(_ auth: Fields) throws(ChatError) {
        try auth.refuseUnknown(
            ["type", "token_url", "client_id", "client_secret", "scope", "audience", "client_auth"])
        var known: WebhookAuth.ClientCredentials?
        if case .oauth2(let credentials) = settings.auth { known = credentials }
        let given = try secret("client_secret", auth)
        let scope = try secret("scope", auth)
        let audience = try secret("audience", auth)
        let isSentInBody = try auth.choice("client_auth", [("basic", false), ("body", true)]) ?? false
        let url = try required("token_url", auth, try secret("token_url", auth), or: known?.tokenURL)
        let id = try required("client_id", auth, try secret("client_id", auth), or: known?.clientID)
        // A stored secret is kept only for the address and client id with which it was set.
        let isSame = url == known?.tokenURL && id == known?.clientID
        let password = try required("client_secret", auth, given, or: isSame ? known?.clientSecret : nil)
        var credentials = WebhookAuth.ClientCredentials(tokenURL: url, clientID: id, clientSecret: password)
        credentials.scope = scope
        credentials.audience = audience
        credentials.isSentInBody = isSentInBody
        settings.auth = .oauth2(credentials)
    }

    /// The value of a member that is used in a header field; nil when the member is absent.
    private func secret(_ name: String, _ auth: Fields) throws(ChatError) -> String? {
        guard let text = try auth.string(name, bytes: Self.secretBytes) else { return nil }
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw auth.fault(name, "value", "must not contain control characters")
        }
        return text
    }

    /// Returns the given text or, if it is absent, the stored text. Reports an error when both are absent.
    private mutating func required(
        _ name: String, _ auth: Fields, _ given: String?, or known: String?
    ) throws(ChatError) -> String {
        if let given { return given }
        hasAuthSecrets = false
        return try auth.required(name, known)
    }

    // MARK: TLS

    private mutating func readTLS() throws(ChatError) {
        guard let tls = try fields.object("tls", known: ["certificate", "private_key", "ca"]) else {
            settings.tls = nil
            return
        }
        let certificate = try tls.string("certificate")
        let privateKey = try tls.string("private_key")
        let authorities = try tls.string("ca")
        // A stored private key is kept only for the certificate with which it was set.
        let kept = certificate == settings.tls?.certificate ? settings.tls?.privateKey : nil
        do throws(ClientIdentityError) {
            settings.tls = try WebhookTLS(
                certificate: certificate, privateKey: privateKey ?? kept, authorities: authorities)
        } catch {
            throw fields.fault("tls", "tls", error.message)
        }
    }
}
