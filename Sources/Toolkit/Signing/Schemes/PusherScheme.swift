/// Pusher: `X-Pusher-Signature: <hex>` over the body. The member `time_ms` of the body is the time of sending.
///
/// `X-Pusher-Key`, the name of the app, must not be missing. Its value is not checked, because the signature already
/// proves knowledge of the secret.
struct PusherScheme: SignatureScheme {
    private let code: HMACScheme
    private let window: ReplayWindow

    init(_ secrets: [Secret], window: ReplayWindow) {
        code = HMACScheme(secrets, signatureHeader: "X-Pusher-Signature")
        self.window = window
    }

    func verify(_ message: SignedMessage, at now: Int64) throws(SignatureRejection) -> DeliveryIdentity {
        _ = try message.required("X-Pusher-Key")
        let identity = try code.verify(message, at: now)
        // The time is read only after the signature was verified, because an unverified body must not be trusted.
        guard let milliseconds = TopLevelNumber.find("time_ms", in: message.body) else {
            throw .headerMissing("time_ms")
        }
        try window.check(String(milliseconds / 1000), of: "time_ms", at: now)
        return identity
    }
}

/// Reads one whole number from a JSON object without a complete JSON parser.
enum TopLevelNumber {
    /// Returns the value of a member of the outermost object. Returns `nil` when the member is missing, occurs more
    /// than once, or is not a number that consists only of digits.
    static func find(_ name: StaticString, in body: [UInt8]) -> Int64? {
        let wanted = Array(name.description.utf8)
        var scanner = Scanner(bytes: body)
        var found: Int64?
        var depth = 0
        while let byte = scanner.next() {
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: "\""):
                let text = scanner.text()
                guard depth == 1, text.elementsEqual(wanted), scanner.skip(UInt8(ascii: ":")) else { continue }
                guard found == nil, let number = scanner.digits() else { return nil }
                found = number
            default: break
            }
        }
        return found
    }

    private struct Scanner {
        let bytes: [UInt8]
        private var at = 0

        init(bytes: [UInt8]) { self.bytes = bytes }

        mutating func next() -> UInt8? {
            guard at < bytes.count else { return nil }
            defer { at += 1 }
            return bytes[at]
        }

        /// Returns the rest of the current string, up to the closing quote, with its escapes unchanged.
        mutating func text() -> ArraySlice<UInt8> {
            let start = at
            while at < bytes.count, bytes[at] != UInt8(ascii: "\"") { at += bytes[at] == UInt8(ascii: "\\") ? 2 : 1 }
            let end = min(at, bytes.count)
            at = end + 1
            return bytes[start..<end]
        }

        /// Skips white space and then this byte. Returns false if another byte follows the white space.
        mutating func skip(_ byte: UInt8) -> Bool {
            skipBlanks()
            guard at < bytes.count, bytes[at] == byte else { return false }
            at += 1
            skipBlanks()
            return true
        }

        /// Reads a number that consists only of digits and is followed by another token. Returns `nil` for any other
        /// number.
        mutating func digits() -> Int64? {
            let start = at
            while at < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[at]) { at += 1 }
            guard at > start, at < bytes.count, !Array(".eE".utf8).contains(bytes[at]) else { return nil }
            return Int64(String(decoding: bytes[start..<at], as: UTF8.self))
        }

        private mutating func skipBlanks() {
            while at < bytes.count, Array(" \t\r\n".utf8).contains(bytes[at]) { at += 1 }
        }
    }
}
