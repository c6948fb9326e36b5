/// The validation handshake of CloudEvents: a sender asks with an `OPTIONS` request if an address accepts events, and
/// the receiver consents with response headers.
///
/// Source: CloudEvents, "HTTP 1.1 Web Hooks for Event Delivery" 1.0, section 4.
public enum CloudEventsValidation {
    /// The number of requests per minute that a receiver accepts.
    public enum Rate: Sendable, Equatable {
        case unlimited
        case perMinute(Int)

        /// Parses `*` or a whole number above zero. Returns `nil` for any other text.
        init?(_ text: String) {
            if text == "*" {
                self = .unlimited
                return
            }
            guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
                let number = Int(text),
                number > 0
            else { return nil }
            self = .perMinute(number)
        }

        var text: String {
            switch self {
            case .unlimited: "*"
            case .perMinute(let number): String(number)
            }
        }
    }

    /// The reason why a receiver has not consented. The status of the receiver's response is not considered.
    public enum Refusal: Error, Sendable, Equatable, CustomStringConvertible {
        /// The response has no `WebHook-Allowed-Origin`.
        case notAnswered
        case otherOrigin(String)
        /// A rate was requested, but the response contains no valid rate.
        case rateMissing

        /// One sentence about the reason.
        public var description: String {
            switch self {
            case .notAnswered: "the receiver's response has no WebHook-Allowed-Origin"
            case .otherOrigin(let origin): "the receiver's response allows only the origin \(origin)"
            case .rateMissing: "the receiver's response has no WebHook-Allowed-Rate"
            }
        }
    }

    // MARK: Requesting consent

    /// Returns the headers of the `OPTIONS` request. Send the request to the exact address that will receive the posts,
    /// and add the first header to every later post.
    ///
    /// - Parameters:
    ///   - origin: the DNS name of the gateway.
    ///   - ratePerMinute: the requested number of posts per minute; `nil` requests no specific rate.
    public static func request(origin: String, ratePerMinute: Int? = nil) -> [SignedMessage.Field] {
        [("WebHook-Request-Origin", origin)] + (ratePerMinute.map { [("WebHook-Request-Rate", String($0))] } ?? [])
    }

    /// Reads the consent from a receiver's response.
    ///
    /// - Parameters:
    ///   - origin: the origin that the request contained.
    ///   - asksRate: true when the request asked for a rate.
    ///   - header: returns the value of the response field with the given name, compared case-insensitively.
    /// - Returns: the rate that the receiver accepts; unlimited when the response contains no rate.
    /// - Throws: ``Refusal`` when the receiver has not consented.
    public static func grant(
        origin: String, asksRate: Bool, header: (String) -> String?
    ) throws(Refusal) -> Rate {
        guard let allowed = header("WebHook-Allowed-Origin")?[...].trimmingBlanks(), !allowed.isEmpty else {
            throw .notAnswered
        }
        // Host names are case-insensitive.
        guard allowed == "*" || allowed.lowercased() == origin.lowercased() else {
            throw .otherOrigin(String(allowed.prefix(255)))
        }
        let rate = header("WebHook-Allowed-Rate").flatMap { Rate(String($0[...].trimmingBlanks())) }
        if rate == nil, asksRate { throw .rateMissing }
        return rate ?? .unlimited
    }

    // MARK: Granting consent

    /// Returns the response to an `OPTIONS` request at an address of the gateway; `nil` when the request is not a
    /// validation request, for instance the preflight request of a browser. Every requested rate is granted.
    public static func answer(header: (String) -> String?) -> HandshakeResponse? {
        guard let origin = header("WebHook-Request-Origin")?[...].trimmingBlanks(), isName(origin) else { return nil }
        var headers = [
            HandshakeResponse.Header(name: "WebHook-Allowed-Origin", value: String(origin)),
            HandshakeResponse.Header(name: "Allow", value: "POST"),
        ]
        if let asked = header("WebHook-Request-Rate").flatMap({ Rate(String($0[...].trimmingBlanks())) }) {
            headers.append(HandshakeResponse.Header(name: "WebHook-Allowed-Rate", value: asked.text))
        }
        return HandshakeResponse(headers: headers)
    }

    /// Returns true for a DNS name, with or without a port. No other text is copied into a response header.
    private static func isName(_ text: Substring) -> Bool {
        (1...255).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: ":"),
                    UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
