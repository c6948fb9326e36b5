import ChatCore
import ChatModel
import HTTPServer
import JSON
import Locking
import Signing
import Text

/// Deduplicates requests with an `Idempotency-Key`: all requests with one key get the same response.
///
/// The log stores the timetokens of the events and a note (the other data of the response) in one transaction. The
/// response to a repeat is printed from the timetokens and the note. This class only tracks the requests in progress. A
/// repeat that arrives while the original request runs is rejected, with a time after which to retry. On another node,
/// the repeat is rejected when it would store the same key.
final class Claims: Sendable {
    private let running = Lock(Set<[UInt8]>())
    private let capacity: Int
    private let window: Duration
    private let clock: WallClock

    init(limits: Limits, clock: WallClock) {
        capacity = limits.waitingDrafts
        window = limits.repeatWindow
        self.clock = clock
    }

    /// Runs `emit` unless a request with the same key is in progress. `emit` gets a closure that creates the claim (the
    /// record that detects repeats) to store with the events. The argument of the closure is the note: the other data
    /// that the response to a repeat needs.
    ///
    /// - Throws: `.conflict` when a request with the key is in progress, `.invalid` when the key was used with another
    ///   request.
    func run(
        _ key: IdempotencyKey, _ route: EmitRoute, _ request: Request, _ caller: Caller,
        _ emit: (_ claim: (JSONText) -> Claim) async throws -> Response
    ) async throws -> Response {
        let scope = Self.scope(key, route.rawValue, request, caller)
        try enter(scope)
        defer { leave(scope) }
        let fingerprint = Self.fingerprint(request)
        let until = clock.now.adding(window)
        do {
            return try await emit { note in
                Claim(app: caller.app, key: scope, fingerprint: fingerprint, note: note, until: until)
            }
        } catch let error as ChatError where error.code == .conflict {
            throw Self.reused
        }
    }

    /// Runs a request once. If a request with the same key was completed earlier, returns its stored response instead.
    ///
    /// - Parameter isNotedFirst: true when the request writes no records. The key is then stored before the request
    ///   runs.
    /// - Throws: `.conflict` when a request with the key is in progress, or when the response of the earlier request
    ///   was lost; `.invalid` when the key was used with a different request.
    func once(
        _ key: IdempotencyKey, _ request: Request, _ caller: Caller, _ answers: StoredAnswers,
        isNotedFirst: Bool = false, _ act: () async throws -> Response
    ) async throws -> Response {
        let scope = Self.scope(key, request.path, request, caller)
        try enter(scope)
        defer { leave(scope) }
        let fingerprint = Hex.encode(Self.fingerprint(request))
        let note: PendingAnswer
        switch try await answers.begin(Hex.encode(scope), fingerprint: fingerprint, in: caller.app) {
        case .none(let begun): note = begun
        case .other: throw Self.reused
        case .running: throw Self.busy
        case .lost:
            throw ChatError(
                .conflict,
                "the response of the first request was not stored; check which changes were stored, and send the missing changes with another key",
                slug: "idempotency_answer_lost")
        case .answered(let answer):
            return Response(
                status: answer.status, headers: answer.headers + [("Idempotency-Replayed", "true")],
                body: answer.body.isEmpty ? .empty : .bytes(answer.body))
        }
        if isNotedFirst { try await Self.write(note, answers) }
        let response: Response
        do {
            response = try await PendingAnswer.$current.withValue(note, operation: act)
        } catch let error as ChatError where error.current?.key == note.key {
            // Another node executes the same request, and has stored the key first.
            throw Self.busy
        } catch let error as ChatError where isNotedFirst && error.code != .outcomeUnknown {
            await answers.withdraw(note)
            throw error
        }
        await answers.conclude(
            note,
            with: response.body.known.map { .init(status: response.status, headers: response.headers, body: $0) })
        return response
    }

    private static func write(_ note: PendingAnswer, _ answers: StoredAnswers) async throws(ChatError) {
        do throws(ChatError) {
            try await answers.write(note)
        } catch {
            throw error.code == .conflict || error.code == .stale ? busy : error
        }
    }

    private static let reused = ChatError(
        .invalid, "this Idempotency-Key was used with another request; use a new key", slug: "idempotency_key_reused")
    private static let busy = ChatError(
        .conflict, "a request with this Idempotency-Key is still running; try again later",
        slug: "idempotency_key_running",
        retryAfter: .seconds(1))

    private func enter(_ scope: [UInt8]) throws(ChatError) {
        enum Entry { case entered, busy, full }
        let entry = running.withLock { running -> Entry in
            guard running.count < capacity else { return .full }
            return running.insert(scope).inserted ? .entered : .busy
        }
        switch entry {
        case .entered: return
        case .busy: throw Self.busy
        case .full:
            throw ChatError(.overloaded, "too many requests with an Idempotency-Key are running; try again later")
        }
    }

    private func leave(_ scope: [UInt8]) { running.withLock { _ = $0.remove(scope) } }

    /// The scope of a key: a digest over app, API key, user, method, route and key. Equal keys of different callers
    /// have different scopes.
    private static func scope(
        _ key: IdempotencyKey, _ route: String, _ request: Request, _ caller: Caller
    ) -> [UInt8] {
        // The joined parts are unambiguous: ids contain no line feed, and a user's name always follows an id.
        let credential = caller.credential + (caller.user.map { "\n" + $0 } ?? "")
        let parts = [caller.app.name, credential, request.method.rawValue, route, key.text]
        return sha256(Array(parts.joined(separator: "\n").utf8))
    }

    /// SHA-256 over method, path, content type and body, joined by line feeds. The path includes the query, because a
    /// query can name the channel, and a request for another channel is a different request.
    static func fingerprint(_ request: Request) -> [UInt8] {
        let body = request.body.bytes
        var bytes: [UInt8] = []
        bytes.reserveCapacity(body.count + 128)
        for part in [request.method.rawValue, request.target, request.headers["Content-Type"] ?? ""] {
            bytes.append(contentsOf: part.utf8)
            bytes.append(0x0A)
        }
        bytes.append(contentsOf: body)
        return sha256(bytes)
    }
}

extension ResponseBody {
    /// The bytes of the body; nil when they are not in memory.
    fileprivate var known: [UInt8]? {
        switch self {
        case .empty: []
        case .bytes(let bytes): bytes
        case .fixed(let bytes): Array(bytes.buffer)
        case .pieces, .stream, .deferred: nil
        }
    }
}
