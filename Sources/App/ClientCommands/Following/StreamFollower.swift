import GatewayClient
import HTTPClient
import JSON

/// Follows a stream until the caller ends it. If the stream breaks, reconnects and continues from the same position.
struct StreamFollower {
    /// Handles an event. Returns false to end the stream.
    typealias Handler = (JSONText, JSONDocument) async throws -> Bool

    let access: GatewayAccess
    let commandEnvironment: CommandEnvironment
    /// The path with channels, types and filter. The cursor is added to it.
    let path: RequestPath
    /// The position from which a reconnect continues: the position of the last handled event or, before any event, the
    /// start position. Nil when no start position is known.
    private(set) var cursor: String?
    /// The number of consecutive streams that broke before their first heartbeat or event.
    private var failures = 0
    /// True after the first stream was opened. Before that, a refused connection means a wrong address. After that, a
    /// refused connection means that the gateway is restarting.
    private var hasFollowed = false
    /// The silence after which a connection counts as broken: three heartbeats, at least 45 seconds.
    private var silence = Duration.seconds(45)
    /// The gateway's closing message of the current stream; nil when the gateway has sent none.
    private var closing: StreamClosing?

    /// The maximum number of consecutive reconnects after a rejected token.
    private static let renewals = 5

    init(access: GatewayAccess, commandEnvironment: CommandEnvironment, path: RequestPath, since cursor: String?) {
        self.access = access
        self.commandEnvironment = commandEnvironment
        self.path = path
        self.cursor = cursor
    }

    /// Calls `handle` with every event, in order. Returns when `handle` returns false or when the gateway ends the
    /// stream permanently.
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
        case open(EventStream)
        case over
        case refused(CommandFailure)
        case broken(String)
    }

    private mutating func connect() async -> Connection {
        let stream: EventStream
        do { stream = try await access.stream(path.adding("cursor", cursor), idleTimeout: silence) } catch {
            guard let error = error as? OutboundFailure else { return unrenewed(error) }
            // A gateway that has responded before is restarting, so the message contains no advice about the address.
            let isRestarting = hasFollowed && error.reason == .connectRefused
            let reason =
                isRestarting
                ? "the gateway does not accept connections" : ProblemDescription.sentence(error, url: access.url)
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
        // Status 204 tells a client to stop reconnecting (WHATWG HTML, section 9.2.3).
        case 204: return .over
        default:
            let failure = access.failure(status: stream.status, body: await stream.problemBody())
            let isPassing = stream.status == 429 || stream.status >= 500 || (stream.status == 401 && mayRenew)
            return isPassing ? .broken(failure.message) : .refused(failure)
        }
    }

    /// True when the stream may be reopened with a new token after the gateway has rejected a token. Several attempts
    /// are useful, because a login service may fail for some time, or return the rejected token again.
    private var mayRenew: Bool { hasFollowed && access.isRenewable && failures < Self.renewals }

    private func unrenewed(_ error: any Error) -> Connection {
        let failure = error as? CommandFailure ?? CommandFailure("\(error)")
        return mayRenew ? .broken(failure.message) : .refused(failure)
    }

    /// Reads the stream. Returns true when the caller ends the stream, and false when the stream breaks.
    private mutating func read(_ stream: EventStream, _ handle: Handler) async throws -> Bool {
        closing = nil
        while true {
            let lines: [StreamLine]?
            do { lines = try await stream.lines() } catch {
                try await pause(ProblemDescription.sentence(error, url: access.url))
                return false
            }
            guard let lines else {
                let reason = closing?.reason.map { ": \($0)" } ?? ""
                let isRenewed = closing?.reason == "unauthorized" && access.isRenewable
                guard closing?.isFinal != true || isRenewed else {
                    throw CommandFailure("the gateway ended the stream permanently\(reason)")
                }
                try await pause("the gateway ended the stream\(reason)")
                return false
            }
            for line in lines {
                guard try await receive(line, handle) else { return true }
            }
        }
    }

    private mutating func receive(_ line: StreamLine, _ handle: Handler) async throws -> Bool {
        switch line {
        case .heartbeat: failures = 0
        case .unknown, .tooLong: break
        case .control(let name, let data): handleControl(name, data)
        case .event(let document):
            failures = 0
            guard try await handle(document.text, document) else { return false }
            cursor = document.root["timetoken"]?.string ?? cursor
        }
        return true
    }

    private mutating func handleControl(_ name: String, _ data: JSONValue) {
        switch name {
        case "stream.ready":
            // The cursor of this stream. Without this cursor, a reconnect with `latest` or without a cursor would skip
            // events.
            cursor = data["cursor"]?.string ?? cursor
            if let heartbeat = data["heartbeat_seconds"]?.integer, (1...3600).contains(heartbeat) {
                silence = max(.seconds(45), .seconds(heartbeat) * 3)
            }
            report(hasFollowed ? "listening again" : "listening")
            hasFollowed = true
        case "stream.gap":
            let resumed = data["resumed_from"]?.string
            cursor = resumed ?? cursor
            if let asked = data["requested"]?.string.flatMap({ UInt64($0) }),
                asked > resumed.flatMap({ UInt64($0) }) ?? .max
            {
                report("the cursor is newer than every event and may belong to another gateway; listening from now on")
            } else {
                let missed = data["missed"]?.integer.map { "\($0) events are" } ?? "events are"
                report("\(missed) missing before the next line: the gateway no longer stores them")
            }
        case "stream.lagged":
            report(
                "this terminal is slower than the stream; the gateway closes the stream, which then resumes at the same position"
            )
        case "stream.closing": closing = StreamClosing(data)
        default: break
        }
    }

    private mutating func pause(_ reason: String) async throws {
        failures += 1
        let wait = max(closing?.wait ?? .zero, Backoff.stream.delay(after: failures, draw: commandEnvironment.draw()))
        closing = nil
        report("\(reason); connecting again in \((wait / .milliseconds(100)).rounded() / 10) s")
        try await commandEnvironment.sleep(wait)
    }

    private func report(_ text: String) {
        let errors = commandEnvironment.console.errors
        errors.line(errors.style.faint(SanitizedText.safe(text)))
    }
}
