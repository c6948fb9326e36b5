import HTTPClient
import JSON

/// Members that hold secrets. They are printed without them, and what was printed can be sent back: a secret that is left
/// out stays.
extension SettingsReader {
    static let secretLimitBytes = 8192

    /// True when the member is one of these.
    mutating func readCredentials(_ name: String, _ value: JSONValue) -> Bool {
        switch name {
        case "headers": readHeaders(value)
        case "auth": readAuth(value)
        case "tls": readTLS(value)
        default: return false
        }
        return true
    }

    /// Secrets cannot be read back, so nobody may have them sent to a host of their choice: they go with the origin they were
    /// given for, and another one is told only what is given together with it.
    mutating func checkSecrets(movedFrom former: String) {
        guard Self.origin(of: former) != Self.origin(of: settings.url) else { return }
        let remedy = "the url has another origin; give it again with the url, or remove it by null"
        for field in settings.headers where !givenHeaders.contains(field.name.lowercased()) {
            fault("headers/\(field.name)", "required", "the value was given for another receiver: \(remedy)")
        }
        if settings.auth != nil, !givesAuth {
            fault("auth", "required", "the secret was given for another receiver: \(remedy), all of it")
        }
    }

    /// Scheme, host and port as they are written, without a port that goes without saying.
    private static func origin(of url: String) -> String {
        let lower = url.lowercased()
        guard let mark = lower.firstRange(of: "://") else { return lower }
        let scheme = lower[..<mark.lowerBound]
        let authority = lower[mark.upperBound...].prefix { !"/?#\\".contains($0) }
        let port = scheme == "https" ? ":443" : ":80"
        return scheme + "://" + (authority.hasSuffix(port) ? authority.dropLast(port.count) : authority)
    }

    // MARK: Headers

    /// `{"X-Name": "value"}`, where null removes one and what is not named stays; or, as it is printed, the names of those
    /// that are to stay.
    private mutating func readHeaders(_ value: JSONValue) {
        if value.isNull {
            settings.headers = []
        } else if let names = value.strings {
            keepHeaders(names)
        } else if let members = value.members {
            for member in members { readHeader(member.name, member.value) }
            if settings.headers.count > FieldRules.count {
                fault("headers", "count", "a webhook has at most \(FieldRules.count) headers of its own")
            }
        } else {
            fault("headers", "type", "headers must be an object of texts")
        }
    }

    private mutating func keepHeaders(_ names: [String]) {
        let lower = names.map { $0.lowercased() }
        for (index, name) in lower.enumerated()
        where !settings.headers.contains(where: { $0.name.lowercased() == name }) {
            fault("headers/\(index)", "unknown", "there is no such header yet; set it by {\"name\": \"value\"}")
        }
        settings.headers.removeAll { !lower.contains($0.name.lowercased()) }
    }

    private mutating func readHeader(_ name: String, _ value: JSONValue) {
        let pointer = "headers/\(name.prefix(64))"
        let former = settings.headers.count
        settings.headers.removeAll { $0.name.lowercased() == name.lowercased() }
        // One that was taken before its name was the gateway's can be removed.
        if value.isNull, settings.headers.count < former { return }
        if let obstacle = FieldRules.obstacle(name: name) { return fault(pointer, "name", obstacle) }
        if value.isNull { return }
        guard let text = value.string else { return fault(pointer, "type", "expected a text or null") }
        if let obstacle = FieldRules.obstacle(value: text) { return fault(pointer, "value", obstacle) }
        settings.headers.append(HeaderField(name, text))
        givenHeaders.insert(name.lowercased())
    }

    // MARK: Auth

    private mutating func readAuth(_ value: JSONValue) {
        if value.isNull {
            settings.auth = nil
            return
        }
        givesAuth = true
        switch value["type"]?.string {
        case "basic": readBasic(value)
        case "bearer": readBearer(value)
        case "oauth2": readOAuth2(value)
        default: fault("auth/type", "enum", "expected one of basic, bearer, oauth2")
        }
    }

    private mutating func readBasic(_ value: JSONValue) {
        guard let members = object(value, "auth", known: ["type", "username", "password"]) else { return }
        var known: (user: String, password: String)?
        if case .basic(let user, let password) = settings.auth { known = (user, password) }
        guard let user = secret(members["username"], "auth/username", or: known?.user),
            // A kept password goes with the name it was given for.
            let password = secret(
                members["password"], "auth/password", or: user == known?.user ? known?.password : nil)
        else { return }
        guard !user.contains(":") else { return fault("auth/username", "value", "a username has no colon (RFC 7617)") }
        settings.auth = .basic(user: user, password: password)
    }

    private mutating func readBearer(_ value: JSONValue) {
        guard let members = object(value, "auth", known: ["type", "token"]) else { return }
        var known: String?
        if case .bearer(let token) = settings.auth { known = token }
        guard let token = secret(members["token"], "auth/token", or: known) else { return }
        if let obstacle = FieldRules.obstacle(value: token) { return fault("auth/token", "value", obstacle) }
        settings.auth = .bearer(token: token)
    }

    private mutating func readOAuth2(_ value: JSONValue) {
        let names = ["type", "token_url", "client_id", "client_secret", "scope", "audience", "client_auth"]
        guard let members = object(value, "auth", known: names) else { return }
        var known: WebhookAuth.ClientCredentials?
        if case .oauth2(let credentials) = settings.auth { known = credentials }
        guard let url = secret(members["token_url"], "auth/token_url", or: known?.tokenURL),
            let id = secret(members["client_id"], "auth/client_id", or: known?.clientID)
        else { return }
        // A kept secret goes to the address it was given for and nowhere else.
        let isSame = url == known?.tokenURL && id == known?.clientID
        let kept = isSame ? known?.clientSecret : nil
        guard let password = secret(members["client_secret"], "auth/client_secret", or: kept) else { return }
        var credentials = WebhookAuth.ClientCredentials(tokenURL: url, clientID: id, clientSecret: password)
        for (name, path) in [("scope", \WebhookAuth.ClientCredentials.scope), ("audience", \.audience)] {
            guard let text = members[name], !text.isNull else { continue }
            credentials[keyPath: path] = secret(text, "auth/\(name)", or: nil)
        }
        switch members["client_auth"]?.string ?? "basic" {
        case "basic": break
        case "body": credentials.isSentInBody = true
        default: return fault("auth/client_auth", "enum", "expected one of basic, body")
        }
        settings.auth = .oauth2(credentials)
    }

    /// A text that may have been left out. Nil after a fault.
    private mutating func secret(_ value: JSONValue?, _ pointer: String, or known: String?) -> String? {
        guard let value, !value.isNull else {
            givesAuth = false
            if known == nil { fault(pointer, "required", "missing \(pointer.split(separator: "/").last ?? "")") }
            return known
        }
        guard let text = value.string, (1...Self.secretLimitBytes).contains(text.utf8.count),
            text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else {
            fault(
                pointer, "type", "expected a text of 1 to \(Self.secretLimitBytes) bytes without control characters")
            return nil
        }
        return text
    }

    // MARK: TLS

    private mutating func readTLS(_ value: JSONValue) {
        if value.isNull {
            settings.tls = nil
            return
        }
        guard let members = object(value, "tls", known: ["certificate", "private_key", "ca"]) else { return }
        let certificate = members["certificate"]?.string
        // A kept key belongs to the certificate it was given with.
        let kept = certificate == settings.tls?.certificate ? settings.tls?.privateKey : nil
        do throws(ClientIdentityError) {
            settings.tls = try WebhookTLS(
                certificate: certificate, privateKey: members["private_key"]?.string ?? kept,
                authorities: members["ca"]?.string)
        } catch {
            fault("tls", "tls", error.message)
        }
    }
}
