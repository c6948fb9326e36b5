import HTTPClient
import JSON

/// Follows a stream until the caller ends it. Reconnects from where the stream broke.
struct StreamFollower {
    /// Handles an event. Returning false ends the following.
    typealias Handler = (JSONText, JSONDocument) async throws -> Bool

    let access: GatewayAccess
    let commandEnvironment: CommandEnvironment
    /// The path with channels, types and filter. The cursor is added.
    let path: RequestPath
    /// The position after the last handled event.
    private(set) var cursor: String?
    /// The number of consecutive streams that broke before their first line.
    private var failures = 0
    /// True after the first stream. Before it, a refused connection means a wrong address, not a restarting gateway.
    private var hasFollowed = false
    /// The silence after which a connection is considered dead: three heartbeats.
    private var silence = Duration.seconds(45)
    /// The gateway's message at the end of the stream.
    private var closing = StreamClosing()

    private struct StreamClosing {
        var reason: String?
        /// True when reconnecting with the same credential is useless: the key is revoked, or the stream was deleted.
        var isFinal = false
        var wait = Duration.zero

        var isOfCredential: Bool { reason == "unauthorized" }
    }

    /// The maximum number of consecutive reconnections after a rejected token.
    private static let renewals = 5
    private static let lineBytes = 32 * 1024 * 1024

    init(access: GatewayAccess, commandEnvironment: CommandEnvironment, path: RequestPath, since cursor: String?) {
        self.access = access
        self.commandEnvironment = commandEnvironment
        self.path = path
        self.cursor = cursor
    }

    /// Calls `handle` with every event, in order, until it returns false or the gateway ends the stream for good.
    ///
    /// - Throws: the errors of `handle`, and the gateway's rejection of the stream.
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
            // A gateway that responded before is restarting, so no advice is printed.
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
        // WHATWG HTML, section 9.2.3: status 204 tells a client to stop reconnecting.
        case 204: return .over
        default:
            let failure = access.failure(status: stream.status, body: await Self.body(of: stream))
            let isPassing = stream.status == 429 || stream.status >= 500 || (stream.status == 401 && mayRenew)
            return isPassing ? .broken(failure.message) : .refused(failure)
        }
    }

    /// True when the next token may be accepted: a login service may fail for a while, or return an old token once
    /// more.
    private var mayRenew: Bool { hasFollowed && access.isRenewable && failures < Self.renewals }

    private func unrenewed(_ error: any Error) -> Connection {
        let failure = error as? CommandFailure ?? CommandFailure("\(error)")
        return mayRenew ? .broken(failure.message) : .refused(failure)
    }

    /// Returns as much of a failed response's body as a problem document needs. When the body breaks off, the status is
    /// used.
    private static func body(of stream: OutboundStream) async -> [UInt8] {
        var body: [UInt8] = []
        var parts = stream.makeAsyncIterator()
        while body.count < 64 * 1024, let part = try? await parts.next() { body += part }
        return body
    }

    /// Reads until the stream breaks (returns false) or the caller ends it (returns true).
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
                    throw CommandFailure("the gateway ended the stream permanently\(reason)")
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
            // The start of this stream: `latest` and a missing cursor would mean another position after every break.
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
                say("the cursor is newer than every event; it may belong to another gateway. Listening from now on")
            } else {
                let missed = data?["missed"]?.integer.map { "\($0) events are" } ?? "events are"
                say("\(missed) missing here: the gateway no longer stores them")
            }
        case "stream.lagged":
            say("this terminal is slower than the stream; the gateway closes it, and it resumes at the same position")
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

/// A line of an NDJSON stream (docs/streams.md).
enum StreamLine: Sendable {
    case heartbeat
    case event(JSONText, JSONDocument)
    /// A control line, `{"event":"stream.ready","data":{…}}`: about the stream, not an event of the log.
    case control(String, JSONDocument)
    /// An unknown line, from a newer gateway or from another server.
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
