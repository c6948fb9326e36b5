import ChatKit
import ChatModel
import JSON

/// The credential of a chat: a key, or the tokens that the program's token supplier (a function) returns.
actor Credential {
    typealias TokenSupplier = @Sendable () async throws -> String

    /// The maximum time to wait for a token from the token supplier.
    private static let limit = Duration.seconds(30)
    /// The time before a token's expiry at which the token is replaced. A token with a life of less than 60 seconds is
    /// replaced after half of its life.
    private static let margin = Duration.seconds(30)

    /// The longest life, in seconds, that is accepted as plausible for a token.
    private static let longestLife: Int64 = 100 * 365 * 86_400

    private struct Token {
        let text: String
        let renewal: Timetoken
    }

    private let tokenSupplier: TokenSupplier?
    private let clock: WallClock
    private var token: Token?
    /// The result of the running call of the token supplier; nil when no call is running.
    private var next: Pending<String>?
    private var asking: Task<Void, Never>?

    init(key: String) {
        tokenSupplier = nil
        clock = .system
        token = Token(text: key, renewal: .distantFuture)
    }

    init(clock: WallClock, tokenSupplier: @escaping TokenSupplier) {
        self.tokenSupplier = tokenSupplier
        self.clock = clock
    }

    /// Uses the given key or token from now on, also instead of a token that the token supplier returned.
    func replace(with key: String) { token = Token(text: key, renewal: .distantFuture) }

    /// Returns the key, or a token that does not have to be replaced yet. If necessary, requests a token from the token
    /// supplier.
    func current() async throws(ChatError) -> String {
        if let token, token.renewal > clock.now { return token.text }
        return try await fresh()
    }

    /// Returns a token other than the rejected token, or nil when the token supplier has no other token.
    func renewed(insteadOf refused: String) async throws(ChatError) -> String? {
        if let token, token.text != refused { return try await current() }
        guard tokenSupplier != nil else { return nil }
        let text = try await fresh()
        return text == refused ? nil : text
    }

    /// Requests a token from the token supplier. Concurrent calls share one request.
    private func fresh() async throws(ChatError) -> String {
        guard let tokenSupplier else { return token?.text ?? "" }
        let asked = next ?? Pending<String>()
        if next == nil {
            next = asked
            asking = Task { await obtain(from: tokenSupplier, for: asked) }
        }
        do throws(ChatError) {
            return try await asked.value(within: Self.limit) { Self.timeoutError }
        } catch {
            if error.slug == Self.timeoutError.slug, next === asked {
                // The next request for a token starts a new call and does not wait for this result.
                next = nil
                asking?.cancel()
            }
            throw error
        }
    }

    /// Calls the token supplier. Stores the token before returning it to the waiting requests, so that a request that
    /// begins at this time does not call the token supplier again.
    private func obtain(from tokenSupplier: TokenSupplier, for asked: Pending<String>) async {
        let outcome: Result<String, ChatError>
        do {
            outcome = .success(try await tokenSupplier())
        } catch let error as ChatError {
            outcome = .failure(error)
        } catch {
            outcome = .failure(ChatError(.unavailable, "the function that supplies tokens failed: \(error)"))
        }
        guard next === asked else { return }
        next = nil
        if case .success(let text) = outcome {
            token = Token(text: text, renewal: Self.renewal(of: text, at: clock.now))
        }
        asked.decide(outcome)
    }

    private static var timeoutError: ChatError {
        ChatError(
            .unavailable, "the function that supplies tokens returned no token within \(limit)", slug: "token_late")
    }

    /// Returns the statements (claims) that a user's token contains, without checking the token's signature; nil for a
    /// text that is not a token.
    static func claims(of token: String) -> JSONValue? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let claims = Base64URL.decode(parts[1]) else { return nil }
        return try? JSONDocument(claims).root
    }

    /// Returns the time at which a token must be replaced: 30 seconds before the token expires. A token with a lifetime
    /// of less than 60 seconds is replaced after half of its lifetime. The lifetime begins at `now`. Its length is
    /// `exp` minus `iat`, so that a wrong clock of this machine has no effect. Without `iat`, its length is `exp` minus
    /// `now`. A token whose lifetime cannot be read is used until the gateway rejects it.
    static func renewal(of token: String, at now: Timetoken) -> Timetoken {
        guard let root = claims(of: token), let end = root["exp"]?.integer else { return .distantFuture }
        let start = root["iat"]?.integer ?? Int64(now.rawValue / Timetoken.ticksPerSecond)
        guard start >= 0, end > start, end - start <= longestLife else { return .distantFuture }
        let life = Duration.seconds(end - start)
        let ticks = UInt64((life - min(margin, life / 2)).components.seconds) * Timetoken.ticksPerSecond
        return Timetoken(now.rawValue + ticks)
    }
}

/// URL-safe Base64 without padding (RFC 4648, section 5).
enum Base64URL {
    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for character in text.utf8 where character != UInt8(ascii: "=") {
            let value: UInt8
            switch character {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = character - UInt8(ascii: "A")
            case UInt8(ascii: "a")...UInt8(ascii: "z"): value = character - UInt8(ascii: "a") + 26
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = character - UInt8(ascii: "0") + 52
            case UInt8(ascii: "-"): value = 62
            case UInt8(ascii: "_"): value = 63
            default: return nil
            }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return bytes
    }
}

extension Timetoken {
    /// Parses a timestamp in the form of `Timetoken.timestamp`: UTC, with microseconds. Returns nil for any other text.
    init?(timestamp: String) {
        let parts = timestamp.utf8.split { !(0x30...0x39).contains($0) }.compactMap { Int(String($0) ?? "") }
        guard timestamp.utf8.count == 27, timestamp.hasSuffix("Z"), parts.count == 7,
            let date = CivilDate(year: parts[0], month: parts[1], day: parts[2]), date.daysSince1970 >= 0
        else { return nil }
        let seconds = date.daysSince1970 * 86_400 + parts[3] * 3600 + parts[4] * 60 + parts[5]
        self.init(UInt64(seconds) * Self.ticksPerSecond + UInt64(parts[6]) * 10)
    }
}
