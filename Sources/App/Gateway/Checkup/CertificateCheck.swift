import ChatModel
import Signing

/// Checks when the TLS certificate expires.
struct CertificateCheck {
    let configuration: Configuration
    let clock: WallClock

    private static let soon: Duration = .seconds(14 * 86_400)

    var results: [CheckResult] {
        guard !configuration.tlsCertificate.isEmpty else { return [] }
        return [finding]
    }

    private var finding: CheckResult {
        let path = configuration.tlsCertificate
        let text: String
        do throws(BackupFailure) {
            text = String(decoding: try DurableFile(path).bytes(limit: 1024 * 1024), as: UTF8.self)
            _ = try DurableFile(configuration.tlsKey).bytes(limit: 1024 * 1024)
        } catch {
            return CheckResult(
                "certificate", .failure, error.description, advice: "use files that the gateway's account can read")
        }
        guard let end = Self.end(ofPEM: text) else {
            return CheckResult(
                "certificate", .failure, "'\(path)' contains no certificate in PEM format",
                advice: "put the certificate first in the file, then the certificates that signed it")
        }
        let day = String(end.timestamp.prefix(10))
        guard end > clock.now else {
            return CheckResult(
                "certificate", .failure, "'\(path)' expired on \(day)",
                advice: "renew the certificate, then reload the settings (SIGHUP)")
        }
        guard end > clock.now.adding(Self.soon) else {
            return CheckResult(
                "certificate", .warning, "'\(path)' expires on \(day)",
                advice: "renew the certificate, then reload the settings (SIGHUP)")
        }
        return CheckResult("certificate", .ok, "valid until \(day)")
    }

    /// Returns the expiry of the first certificate in a PEM text; nil when there is no valid certificate.
    static func end(ofPEM text: String) -> Timetoken? {
        let marks = ("-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----")
        guard let begin = text.firstRange(of: marks.0), let end = text[begin.upperBound...].firstRange(of: marks.1),
            let bytes = Base64.decode(
                text[begin.upperBound..<end.lowerBound].filter { !$0.isWhitespace }.description)
        else { return nil }
        return DER.end(ofCertificate: bytes)
    }
}

/// A decoder for the parts of an X.509 certificate (RFC 5280, X.690) that are needed to determine its expiry.
private struct DER {
    private var rest: ArraySlice<UInt8>

    /// Returns the expiry of a certificate in DER; nil for an invalid certificate. Its structure is Certificate ::= {
    /// tbsCertificate { [0] version, serial, algorithm, issuer, validity { notBefore, notAfter } … } … }.
    static func end(ofCertificate bytes: [UInt8]) -> Timetoken? {
        var file = DER(rest: bytes[...])
        guard let certificate = file.next(), var outer = certificate.inside(0x30), let body = outer.next(),
            var fields = body.inside(0x30), var field = fields.next()
        else { return nil }
        if field.tag == 0xA0 {
            guard let serial = fields.next() else { return nil }
            field = serial
        }
        // The fields after the serial number are the algorithm, the issuer and the validity.
        guard fields.next() != nil, fields.next() != nil, let validity = fields.next(),
            var moments = validity.inside(0x30), moments.next() != nil, let end = moments.next()
        else { return nil }
        return end.moment
    }

    struct Element {
        let tag: UInt8
        let content: ArraySlice<UInt8>

        func inside(_ tag: UInt8) -> DER? { self.tag == tag ? DER(rest: content) : nil }

        /// The time in a UTCTime `YYMMDDHHMMSSZ` or a GeneralizedTime `YYYYMMDDHHMMSSZ`; nil for other values.
        var moment: Timetoken? {
            var digits = String(decoding: content, as: UTF8.self)
            // A year of two digits is between 1950 and 2049 (RFC 5280, section 4.1.2.5.1).
            if tag == 0x17 { digits = (digits.prefix(2) < "50" ? "20" : "19") + digits }
            guard digits.utf8.count == 15, digits.hasSuffix("Z"), digits.dropLast().allSatisfy(\.isNumber) else {
                return nil
            }
            func part(_ from: Int, _ count: Int) -> String { String(digits.dropFirst(from).prefix(count)) }
            return Timestamp.read(
                "\(part(0, 4))-\(part(4, 2))-\(part(6, 2))T\(part(8, 2)):\(part(10, 2)):\(part(12, 2))Z")
        }
    }

    mutating func next() -> Element? {
        guard let tag = rest.popFirst(), let length = length(), length <= rest.count else { return nil }
        defer { rest = rest.dropFirst(length) }
        return Element(tag: tag, content: rest.prefix(length))
    }

    private mutating func length() -> Int? {
        guard let first = rest.popFirst() else { return nil }
        guard first >= 0x80 else { return Int(first) }
        let count = Int(first & 0x7F)
        guard (1...4).contains(count), rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
    }
}
