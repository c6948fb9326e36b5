import HTTPClient
import JSON

/// Follows a stream for as long as it is wanted: connects again when it breaks, from where it broke.
struct StreamFollower {
    /// Takes an event; false ends the following.
    typealias Handler = (JSONText, JSONDocument) async throws -> Bool

    let access: GatewayAccess
    let commandEnvironment: CommandEnvironment
    /// Channels, types and filter; the cursor is added.
    let path: RequestPath
    /// The position after the last event that was handled.
    private(set) var cursor: String?
    /// How often in a row the stream broke without a line of it having come.
    private var failures = 0
    /// Until there has been a stream, a refused connection is a mistake in the address, not a gateway restarting.
    private var hasFollowed = false
    /// How long a silence means a dead connection: three heartbeats.
    private var silence = Duration.seconds(45)
    /// What the gateway said when it ended the stream.
    private var closing = StreamClosing()

    private struct StreamClosing {
        var reason: String?
        /// Coming back with the same credential is of no use: the key is gone, the stream was deleted.
        var isFinal = false
        var wait = Duration.zero

        var isOfCredential: Bool { reason == "unauthorized" }
    }

    /// How often in a row it connects again without a token that counts.
    private static let renewals = 5
    private static let lineBytes = 32 * 1024 * 1024

    init(access: GatewayAccess, commandEnvironment: CommandEnvironment, path: RequestPath, since cursor: String?) {
        self.access = access
        self.commandEnvironment = commandEnvironment
        self.path = path
        self.cursor = cursor
    }

    /// Hands every event to `handle`, in order, until it returns false or the gateway says the stream is over for good.
    ///
    /// - Throws: what `handle` throws, and the gateway's refusal of the stream.
    mutating func follow(_ handle: Handler) async throws {
        while true {
            switch await connect() {
            case .open(let stream):
                if try await read(stream, handle) { return }
            case .over: return
            case .refused(let failure): throw failure
            case .broken(let reason): try await pause(reason)
            }
        }
    }

    private enum Connection {
        case open(OutboundStream)
        case over
        case refused(CommandFailure)
        case broken(String)
    }

    private mutating func connect() async -> Connection {
        let stream: OutboundStream
        do { stream = try await access.stream(path.adding("cursor", cursor), idleTimeout: silence) } catch {
            guard let error = error as? OutboundFailure else { return unrenewed(error) }
            // A gateway that has been there is being restarted: no advice is due.
            let isRestarting = hasFollowed && error.reason == .connectRefused
            let reason = isRestarting ? "nothing answers" : ProblemDescription.sentence(error, url: access.url)
            let isPassing =
                switch error.reason {
                case .reset, .timeout, .connectTimeout, .overloaded: true
                case .connectRefused, .dns: hasFollowed
                case .tls, .blockedAddress, .responseInvalid, .cancelled, .requestInvalid: false
                }
            return isPassing ? .broken(reason) : .refused(CommandFailure(reason))
        }
        switch stream.status {
        case 200: return .open(stream)
        // Source: WHATWG HTML 9.2.3: the way to tell a client to stop reconnecting.
        case 204: return .over
        default:
            let failure = access.failure(status: stream.status, body: await Self.body(of: stream))
            let isPassing = stream.status == 429 || stream.status >= 500 || (stream.status == 401 && mayRenew)
            return isPassing ? .broken(failure.message) : .refused(failure)
        }
    }

    /// Whether the next token may be better: a login service may fail for a while, or hand out an old token once more.
    private var mayRenew: Bool { hasFollowed && access.isRenewable && failures < Self.renewals }

    private func unrenewed(_ error: any Error) -> Connection {
        let failure = error as? CommandFailure ?? CommandFailure("\(error)")
        return mayRenew ? .broken(failure.message) : .refused(failure)
    }

    /// As much of a refusal's body as a problem needs; a broken one is told by its status.
    private static func body(of stream: OutboundStream) async -> [UInt8] {
        var body: [UInt8] = []
        var parts = stream.makeAsyncIterator()
        while body.count < 64 * 1024, let part = try? await parts.next() { body += part }
        return body
    }

    /// Reads until the stream breaks (false) or is wanted no longer (true).
    private mutating func read(_ stream: OutboundStream, _ handle: Handler) async throws -> Bool {
        var splitter = LineSplitter(limit: Self.lineBytes)
        var parts = stream.makeAsyncIterator()
        closing = StreamClosing()
        while true {
            let part: [UInt8]?
            do { part = try await parts.next() } catch {
                try await pause(ProblemDescription.sentence(error, url: access.url))
                return false
            }
            guard let part else {
                let reason = closing.reason.map { ": \($0)" } ?? ""
                let isRenewed = closing.isOfCredential && access.isRenewable
                guard !closing.isFinal || isRenewed else {
                    throw CommandFailure("the gateway ended the stream for good\(reason)")
                }
                try await pause("the gateway ended the stream\(reason)")
                return false
            }
            for case .complete(let line) in splitter.lines(in: part) {
                guard try await take(StreamLine(line), handle) else { return true }
            }
        }
    }

    private mutating func take(_ line: StreamLine, _ handle: Handler) async throws -> Bool {
        switch line {
        case .heartbeat: failures = 0
        case .unknown: break
        case .control(let name, let document): noted(name, document.root["data"])
        case .event(let envelope, let document):
            failures = 0
            guard try await handle(envelope, document) else { return false }
            cursor = document.root["timetoken"]?.string ?? cursor
        }
        return true
    }

    private mutating func noted(_ name: String, _ data: JSONValue?) {
        switch name {
        case "stream.ready":
            // Where this stream begins: `latest` and no cursor at all mean another place after every break.
            cursor = data?["cursor"]?.string ?? cursor
            if let heartbeat = data?["heartbeat_seconds"]?.integer, (1...3600).contains(heartbeat) {
                silence = max(.seconds(45), .seconds(heartbeat) * 3)
            }
            say(hasFollowed ? "listening again" : "listening")
            hasFollowed = true
        case "stream.gap":
            let resumed = data?["resumed_from"]?.string
            cursor = resumed ?? cursor
            if let asked = data?["requested"]?.string.flatMap({ UInt64($0) }),
                asked > resumed.flatMap({ UInt64($0) }) ?? .max
            {
                say("the cursor is ahead of everything there is, as one of another gateway is: listening from now on")
            } else {
                let missed = data?["missed"]?.integer.map { "\($0) events are" } ?? "events are"
                say("\(missed) missing here: they are older than what the gateway keeps")
            }
        case "stream.lagged":
            say("this terminal is slower than the stream; the gateway cuts it, and it goes on from there")
        case "stream.closing":
            closing.reason = data?["reason"]?.string
            closing.isFinal = data?["final"]?.boolean ?? false
            if let wait = data?["retry_ms"]?.integer, (0...300_000).contains(wait) {
                closing.wait = .milliseconds(wait)
            }
        default: break
        }
    }

    private mutating func pause(_ reason: String) async throws {
        failures += 1
        let wait = max(closing.wait, Backoff.stream.delay(afterAttempt: failures, draw: commandEnvironment.draw()))
        closing = StreamClosing()
        say("\(reason); connecting again in \((wait / .milliseconds(100)).rounded() / 10) s")
        try await commandEnvironment.sleep(wait)
    }

    private func say(_ text: String) {
        let errors = commandEnvironment.console.errors
        errors.line(errors.style.faint(SanitizedText.safe(text)))
    }
}

/// A line of an NDJSON stream (`product.md` 7).
enum StreamLine: Sendable {
    case heartbeat
    case event(JSONText, JSONDocument)
    /// `{"event":"stream.ready","data":{…}}`: about the stream, not of the log.
    case control(String, JSONDocument)
    /// Nothing we know: from a newer gateway, or from something else.
    case unknown

    init(_ bytes: [UInt8]) {
        guard !bytes.allSatisfy({ $0 == 0x20 }) else {
            self = .heartbeat
            return
        }
        guard let document = try? JSONDocument(bytes, limits: JSONLimits(depth: 2048), numbers: .lenient) else {
            self = .unknown
            return
        }
        if document.root["timetoken"]?.string != nil, document.root["type"]?.string != nil {
            self = .event(document.text, document)
        } else if let name = document.root["event"]?.string {
            self = .control(name, document)
        } else {
            self = .unknown
        }
    }
}
