import Text

/// Twilio: `X-Twilio-Signature: <base64>`, an HMAC-SHA1 with the auth token as the key.
///
/// For a form, the signature covers the URL, followed by the name and value of each field, sorted by name. For any
/// other body, the signature covers only the URL, whose query contains the digest of the body as `bodySHA256`. Source:
/// Twilio, "Validating Signatures from Twilio", and the verifier of its Python library.
struct TwilioScheme: SignatureScheme {
    private static let header = "X-Twilio-Signature"
    private let secrets: [Secret]

    init(_ secrets: [Secret]) { self.secrets = secrets }

    func verify(_ message: SignedMessage, at now: Int64) throws(SignatureRejection) -> DeliveryIdentity {
        guard let signature = Base64.decode(try message.required(Self.header)) else {
            throw .headerMalformed(Self.header)
        }
        let url = try message.requiredURL()
        let rest: [String]
        if let digest = Self.bodyDigest(in: url) {
            guard let expected = Hex.decode(digest), constantTimeEqual(expected, sha256(message.body)) else {
                throw .digestMismatch
            }
            rest = []
        } else {
            rest = try Self.fields(of: message)
        }
        for secret in secrets {
            for spelling in Self.spellings(of: url) {
                var code = MessageAuthentication(.sha1, key: secret)
                code.update(spelling)
                for text in rest { code.update(text) }
                if constantTimeEqual(code.finish(), signature) { return identity(message) }
            }
        }
        throw .mismatch
    }

    private func identity(_ message: SignedMessage) -> DeliveryIdentity {
        message.header("I-Twilio-Idempotency-Token").map { .value($0) } ?? .none
    }

    /// Returns the names and values of the form in the order in which they are signed. Equal fields are included only
    /// once, as in Twilio's library.
    private static func fields(of message: SignedMessage) throws(SignatureRejection) -> [String] {
        if message.body.isEmpty { return [] }
        // A body that is not a form is rejected here, because the URL contains no digest of it and the body would not
        // be signed.
        guard let form = message.form else { throw .headerMalformed("Content-Type") }
        var signed: [String] = []
        var last: SignedMessage.Field?
        for field in form.sorted(by: { isBefore($0, $1) }) {
            if let last, Array(last.name.utf8) == Array(field.name.utf8),
                Array(last.value.utf8) == Array(field.value.utf8)
            {
                continue
            }
            signed += [field.name, field.value]
            last = field
        }
        return signed
    }

    /// Returns true if `left` comes before `right`. Fields are ordered by the bytes of name and value, because Swift
    /// orders strings differently.
    private static func isBefore(_ left: SignedMessage.Field, _ right: SignedMessage.Field) -> Bool {
        if left.name.utf8.elementsEqual(right.name.utf8) {
            return left.value.utf8.lexicographicallyPrecedes(right.value.utf8)
        }
        return left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
    }

    /// Returns the unchanged URL and its other form: without the port if the URL contains a port, otherwise with the
    /// standard port. Twilio may sign either form, regardless of the configured URL.
    private static func spellings(of url: String) -> [String] {
        guard let parts = URLParts(url) else { return [url] }
        let rest = "\(parts.path)\(parts.query)"
        // The last colon is not before a port if a bracket follows: it is then part of an IPv6 address.
        if let colon = parts.authority.lastIndex(of: ":"), !parts.authority[colon...].contains("]") {
            return [url, "\(parts.scheme)://\(parts.authority[..<colon])\(rest)"]
        }
        return [url, "\(parts.scheme)://\(parts.authority):\(parts.scheme == "https" ? 443 : 80)\(rest)"]
    }

    private static func bodyDigest(in url: String) -> Substring? {
        URLParts(url)?.query.dropFirst().split(separator: "&")
            .first { $0.hasPrefix("bodySHA256=") }?.dropFirst("bodySHA256=".count)
    }
}

/// The parts of a URL that signature schemes use.
struct URLParts {
    let scheme: Substring
    let authority: Substring
    let path: Substring
    let query: Substring

    init?(_ url: String) {
        guard let mark = url.firstRange(of: "://") else { return nil }
        let rest = url[mark.upperBound...]
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let question = rest[end...].firstIndex(of: "?") ?? rest.endIndex
        scheme = url[..<mark.lowerBound]
        authority = rest[..<end]
        path = rest[end..<question]
        query = rest[question...]
    }

    /// Returns the value of a derived component (RFC 9421, 2.2); `nil` for an unknown name.
    func component(_ name: String) -> String? {
        switch name {
        case "@scheme": return scheme.lowercased()
        case "@authority":
            let name = authority.lowercased()
            let standard = scheme.lowercased() == "https" ? ":443" : ":80"
            return name.hasSuffix(standard) ? String(name.dropLast(standard.count)) : name
        case "@path": return path.isEmpty ? "/" : String(path)
        // If there is no query, the value of the component is a single question mark.
        case "@query": return query.isEmpty ? "?" : String(query)
        default: return nil
        }
    }
}
