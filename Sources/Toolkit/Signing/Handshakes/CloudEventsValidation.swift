/// The validation handshake of CloudEvents: an `OPTIONS` request asks whether an address wants events, and headers answer.
///
/// Source: CloudEvents, "HTTP 1.1 Web Hooks for Event Delivery" 1.0, section 4.
public enum CloudEventsValidation {
    /// How many requests a minute a receiver takes.
    public enum Rate: Sendable, Equatable {
        case unlimited
        case perMinute(Int)

        /// `*` or a whole number above zero.
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

    /// Why a receiver has not consented. The status of its answer does not count, neither way.
    public enum Refusal: Error, Sendable, Equatable, CustomStringConvertible {
        /// No `WebHook-Allowed-Origin`.
        case notAnswered
        case otherOrigin(String)
        /// A rate was asked for, and none that can be read was granted.
        case rateMissing

        public var description: String {
            switch self {
            case .notAnswered: "the answer has no WebHook-Allowed-Origin"
            case .otherOrigin(let origin): "the answer allows the origin \(origin) only"
            case .rateMissing: "the answer has no WebHook-Allowed-Rate"
            }
        }
    }

    // MARK: Asking

    /// The headers of the `OPTIONS` request to the exact address that will be posted to. Every later post has the first, too.
    ///
    /// - Parameters:
    ///   - origin: our name in DNS.
    ///   - ratePerMinute: how many posts we would like to make; nil does not ask.
    public static func request(origin: String, ratePerMinute: Int? = nil) -> [SignedMessage.Field] {
        [("WebHook-Request-Origin", origin)] + (ratePerMinute.map { [("WebHook-Request-Rate", String($0))] } ?? [])
    }

    /// What a receiver has granted.
    ///
    /// - Parameters:
    ///   - origin: as asked.
    ///   - asksRate: whether a rate was.
    ///   - header: the value of the answer's field with this name, compared case-insensitively.
    /// - Returns: the rate it takes; without a word of it, any.
    public static func grant(
        origin: String, asksRate: Bool, header: (String) -> String?
    ) throws(Refusal) -> Rate {
        guard let allowed = header("WebHook-Allowed-Origin")?[...].trimmingBlanks(), !allowed.isEmpty else {
            throw .notAnswered
        }
        // Names of hosts have no case.
        guard allowed == "*" || allowed.lowercased() == origin.lowercased() else {
            throw .otherOrigin(String(allowed.prefix(255)))
        }
        let rate = header("WebHook-Allowed-Rate").flatMap { Rate(String($0[...].trimmingBlanks())) }
        if rate == nil, asksRate { throw .rateMissing }
        return rate ?? .unlimited
    }

    // MARK: Answering

    /// The answer to an `OPTIONS` request at an address of ours; nil when it is no such question, for instance a browser's.
    /// Whatever rate is asked for is welcome.
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

    /// A name in DNS, perhaps with a port: nothing else is sent back in a header.
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
