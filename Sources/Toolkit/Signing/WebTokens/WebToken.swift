/// A signed token in the compact form (RFC 7515, 7.1): `header.claims.signature`, each in base64url.
///
/// Only taken apart: nothing in it may be believed before `WebTokenKey.signs` has said so, and the header's `alg` never
/// chooses how that is found out (RFC 8725, 3.1).
public struct WebToken: Sendable {
    /// The JSON texts of header and claims.
    public let header: [UInt8]
    public let claims: [UInt8]
    let signature: [UInt8]
    /// What was signed: the first two parts as they came, with the dot between them.
    let signed: [UInt8]

    /// Nil for a text that is no such token. Costs nothing for a text without its two dots.
    ///
    /// - Parameter text: in whole; the caller has bounded its length.
    public init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64.decodeURL(String(parts[0]) ?? ""),
            let claims = Base64.decodeURL(String(parts[1]) ?? ""),
            let signature = Base64.decodeURL(String(parts[2]) ?? ""), !header.isEmpty, !claims.isEmpty
        else { return nil }
        self.header = header
        self.claims = claims
        self.signature = signature
        signed = Array(text.utf8[..<parts[1].endIndex])
    }

    /// The text of a token with these claims, signed with HS256.
    public static func text(claims: [UInt8], secret: Secret) -> String {
        let signed = Base64.encodeURL(Array(#"{"alg":"HS256","typ":"JWT"}"#.utf8)) + "." + Base64.encodeURL(claims)
        let code = MessageAuthentication.code(.sha256, of: Array(signed.utf8), key: secret)
        return signed + "." + Base64.encodeURL(code)
    }
}
