import ChatModel
import ClientCommands
import GatewayClient
import HTTPClient
import JSON
import Signing

/// Reads a keyset through its REST API, with the keyset's keys. It never changes the keyset.
final class KeysetAccess: Sendable {
    let subscribeKey: String
    private let origin: String
    private let publishKey: String?
    private let secretKey: Secret?
    private let token: String?
    private let userID: String
    private let client: Client
    private let commandEnvironment: CommandEnvironment
    private let pace: Duration

    private static let attempts = 6
    private static let answerLimit = 64 * 1024 * 1024

    /// Creates the access to a keyset. No request is sent yet.
    ///
    /// - Parameter rate: the maximum number of requests per second. The requests are sequential.
    init(
        address: ServerAddress, subscribeKey: String, publishKey: String?, secretKey: String?, token: String?,
        userID: String, rate: Int, commandEnvironment: CommandEnvironment
    ) throws(CommandFailure) {
        origin = address.url
        self.subscribeKey = subscribeKey
        self.publishKey = publishKey
        self.secretKey = secretKey.map { Secret(text: $0) }
        self.token = token
        self.userID = userID
        self.commandEnvironment = commandEnvironment
        pace = .seconds(1) / rate
        do {
            client = try Client(
                options: ClientOptions(
                    userAgent: "parley-cli/\(Product.version)", responseLimitBytes: Self.answerLimit,
                    keptResponseBytes: Self.answerLimit, totalTimeout: .seconds(30), addressGuard: .disabled))
        } catch {
            throw CommandFailure("the HTTP client cannot start: \(error.message)")
        }
    }

    func close() async { await client.shutdown() }

    /// Sends a read request, and retries it until there is a response.
    ///
    /// This loop differs from the loop of `GatewayAccess`: retries also obey the rate limit, each attempt is signed
    /// with the time of the attempt, and errors have another format. The retry delays are the same.
    ///
    /// - Parameter path: the path with its query. The caller's credentials are added to it.
    /// - Throws: the error that the service returns, or the reason why there is no response.
    func get(_ path: RequestPath) async throws -> JSONDocument {
        var attempt = 1
        while true {
            // Requests are spaced by the rate, even if the responses are fast.
            try await commandEnvironment.sleep(pace)
            let result = await client.send(
                OutboundRequest(url: origin + signed(path), headers: [("Accept", "application/json")]))
            let failure: CommandFailure
            if let broken = result.failure {
                failure = CommandFailure(broken.sentence(url: origin))
                guard [.reset, .timeout, .connectTimeout, .overloaded].contains(broken.reason) else { throw failure }
            } else if let status = result.status, (200..<300).contains(status) {
                guard !result.truncated,
                    let document = try? JSONDocument(result.body, numbers: .lenient, duplicates: .lastWins)
                else { throw CommandFailure("the server at \(origin) does not support the PubNub API") }
                return document
            } else {
                failure = refusal(result)
                guard [429, 500, 502, 503, 504].contains(result.status ?? 0) else { throw failure }
            }
            guard attempt < Self.attempts else { throw failure }
            let asked = result.headers["Retry-After"].flatMap { Int($0) }.map { Duration.seconds(min($0, 60)) } ?? .zero
            try await commandEnvironment.sleep(
                max(asked, Backoff.request.delay(after: attempt, draw: commandEnvironment.draw())))
            attempt += 1
        }
    }

    private func refusal(_ result: OutboundResult) -> CommandFailure {
        let status = result.status ?? 0
        let root = try? JSONDocument(result.body, numbers: .lenient).root
        let said =
            root?["error"]?["message"]?.string ?? root?["error_message"]?.string ?? root?["message"]?.string
            ?? "no reason given"
        let advice =
            status == 403 && secretKey == nil && token == nil
            ? "; the keyset requires authorization: pass --secret-key and --publish-key, or --token" : ""
        return CommandFailure("\(origin) rejected the request (\(status)): \(said)\(advice)")
    }

    /// Returns the path with the caller's credentials and its signature. The signature covers all parameters, sorted by
    /// name.
    private func signed(_ path: RequestPath) -> String {
        var path = path
        path.add("uuid", userID)
        if let token { path.add("auth", token) }
        guard let secretKey, let publishKey else { return path.text }
        let second = commandEnvironment.now().rawValue / Timetoken.ticksPerSecond
        path.add("timestamp", String(second))
        let parts = path.text.split(separator: "?", maxSplits: 1)
        let query = parts[1].split(separator: "&").sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            .joined(separator: "&").replacing("~", with: "%7E")
        let code = MessageAuthentication.code(
            .sha256, of: Array("GET\n\(publishKey)\n\(parts[0])\n\(query)\n".utf8), key: secretKey)
        path.add("signature", "v2." + Base64.encodeURL(code))
        return path.text
    }
}
