import Signing
import Testing

@Suite("A public-key signature") struct RefusedSignatureTests {
    typealias Vectors = TokenVectors

    /// The vectors' token with this signature in base64url.
    private func token(_ algorithm: String, _ signature: String) throws -> WebToken {
        let header = Base64.encodeURL(Array("{\"alg\":\"\(algorithm)\"}".utf8))
        return try #require(WebToken("\(header).\(Base64.encodeURL(Array(#"{"sub":"ana"}"#.utf8))).\(signature)"))
    }

    private static func signs(_ algorithm: WebTokenKey.Algorithm, _ signature: [UInt8]) throws -> Bool {
        let pem =
            switch algorithm {
            case .rs256: Vectors.rsaPEM
            case .es256: Vectors.p256PEM
            default: Vectors.ed25519PEM
            }
        let key = try #require(WebTokenKey(algorithm, pem: pem))
        return key.signs(try Self().token(algorithm.rawValue, Base64.encodeURL(signature)))
    }

    private static func bytes(_ text: String) throws -> [UInt8] { try #require(Base64.decodeURL(text)) }

    private static let valid: [(WebTokenKey.Algorithm, String)] = [
        (.rs256, Vectors.rsaSignature), (.es256, Vectors.p256LowS), (.edDSA, Vectors.ed25519Signature),
    ]

    @Test(
        "is accepted in each algorithm, ES256 with either form of S", arguments: valid + [(.es256, Vectors.p256HighS)])
    func accepted(_ algorithm: WebTokenKey.Algorithm, _ signature: String) throws {
        #expect(try Self.signs(algorithm, Self.bytes(signature)))
    }

    @Test("is refused with any byte changed, one less, one more, and all zero", arguments: valid)
    func changed(_ algorithm: WebTokenKey.Algorithm, _ signature: String) throws {
        let bytes = try Self.bytes(signature)
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 0x10
            #expect(try !Self.signs(algorithm, changed), "byte \(index)")
        }
        #expect(try !Self.signs(algorithm, bytes.dropLast()))
        #expect(try !Self.signs(algorithm, Array(bytes.dropFirst())))
        #expect(try !Self.signs(algorithm, bytes + [0]))
        #expect(try !Self.signs(algorithm, [0] + bytes))
        #expect(try !Self.signs(algorithm, []))
        #expect(try !Self.signs(algorithm, bytes.map { _ in 0 }))
        #expect(try !Self.signs(algorithm, bytes.map { _ in 0xFF }))
    }

    @Test("is refused over other claims, and by the key of another algorithm")
    func elsewhere() throws {
        let key = try #require(WebTokenKey(.edDSA, pem: Vectors.ed25519PEM))
        #expect(key.signs(try token("EdDSA", Vectors.ed25519Signature)))
        #expect(!key.signs(try token("none", Vectors.ed25519Signature)))
        #expect(!key.signs(try token("ES256", Vectors.p256LowS)))
    }

    @Test(
        "is refused outside the ranges of its numbers",
        arguments: [
            // RFC 8032, 5.1.7: S + L would be a second form of the same signature.
            (WebTokenKey.Algorithm.edDSA, Vectors.ed25519SPlusOrder),
            // FIPS 186-5, 6.4.2: r and s are in 1 ..< n.
            (.es256, Vectors.p256SPastOrder), (.es256, Vectors.p256ROfOrder),
        ])
    func ranges(_ algorithm: WebTokenKey.Algorithm, _ signature: String) throws {
        #expect(try !Self.signs(algorithm, Self.bytes(signature)))
    }

    @Test(
        "of RSA is refused with another padding and another hash", arguments: [Vectors.rsaPSS, Vectors.rsaOverSHA512])
    func padding(_ signature: String) throws {
        #expect(try !Self.signs(.rs256, Self.bytes(signature)))
    }

    @Test(
        "has no key that is too short, of another curve or kind, or off its curve",
        arguments: [
            (WebTokenKey.Algorithm.rs256, Vectors.rsa1024PEM), (.rs256, Vectors.rsaForPSSPEM),
            (.rs256, Vectors.rsaExponent1PEM), (.rs256, Vectors.rsaLongExponentPEM), (.rs256, Vectors.rsa8256PEM),
            (.rs256, Vectors.p256PEM),
            (.es256, Vectors.p256OffCurvePEM), (.es256, Vectors.p384PEM), (.es256, Vectors.k1PEM),
            (.es256, Vectors.rsaPEM), (.es256, Vectors.ed25519PEM), (.edDSA, Vectors.p256PEM), (.edDSA, Vectors.rsaPEM),
            (.hs256, Vectors.rsaPEM), (.hs256, Vectors.ed25519PEM),
        ])
    func keys(_ algorithm: WebTokenKey.Algorithm, _ pem: String) {
        #expect(WebTokenKey(algorithm, pem: pem) == nil)
    }

    @Test("verifies with no Ed25519 key that is no point of the curve")
    func noPoint() throws {
        // The crypto library decides whether making the key fails or using it.
        guard let key = WebTokenKey(.edDSA, pem: Vectors.ed25519NoPointPEM) else { return }
        #expect(!key.signs(try token("EdDSA", Vectors.ed25519Signature)))
        #expect(!key.signs(try token("EdDSA", Base64.encodeURL([UInt8](repeating: 0, count: 64)))))
    }

    @Test(
        "has no key in a PEM that is cut or followed by more",
        arguments: [
            (WebTokenKey.Algorithm.rs256, Vectors.rsaPEM), (.es256, Vectors.p256PEM), (.edDSA, Vectors.ed25519PEM),
        ])
    func damaged(_ algorithm: WebTokenKey.Algorithm, _ pem: String) throws {
        let lines = pem.split(separator: "\n").map(String.init)
        let der = try #require(Base64.decode(lines.dropFirst().dropLast().joined()))
        func key(_ der: [UInt8]) -> WebTokenKey? {
            WebTokenKey(algorithm, pem: "\(lines[0])\n\(Base64.encode(der))\n\(lines[lines.count - 1])")
        }
        #expect(key(der) != nil)
        for length in 0..<der.count { #expect(key(Array(der.prefix(length))) == nil, "\(length) bytes") }
        #expect(key(der + [0]) == nil)
        #expect(WebTokenKey(algorithm, pem: lines.dropLast().joined(separator: "\n")) == nil)
        #expect(WebTokenKey(algorithm, pem: pem + "\n" + pem) == nil)
    }

    @Test("is refused by a raw Ed25519 key of any length but 32 bytes, and never made by a half that is another's")
    func rawKeys() {
        for length in 0...96 where length != 32 {
            #expect(Ed25519PublicKey([UInt8](repeating: 1, count: length)) == nil)
            #expect(length == 64 || Ed25519PrivateKey([UInt8](repeating: 1, count: length)) == nil)
        }
        #expect(Ed25519PrivateKey([UInt8](repeating: 1, count: 64)) == nil)
    }
}
